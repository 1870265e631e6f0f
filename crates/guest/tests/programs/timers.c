/* Timers, counters (eventfd), epoll, pairs of sockets, and calls about memory: what is the same each time. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handler(int signal, siginfo_t *info, void *context) {
    (void)context;
    handled += signal == SIGRTMIN && info->si_code == SI_TIMER ? info->si_value.sival_int : 1000;
}

static void timers(void) {
    timer_t timer, other;
    struct itimerspec time = {{0, 0}, {0, 20000000}}, left;
    struct sigevent event;
    sigset_t set;
    siginfo_t info;

    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    event.sigev_value.sival_int = 77;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    printf("create %d", timer_create(CLOCK_MONOTONIC, &event, &timer));
    printf(" set %d", timer_settime(timer, 0, &time, NULL));
    printf(" get %d", timer_gettime(timer, &left));
    printf(" left %d", left.it_value.tv_sec == 0 && left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 20000000);
    printf(" signal %d", sigwaitinfo(&set, &info) == SIGUSR1);
    printf(" code %d value %d", info.si_code == SI_TIMER, info.si_value.sival_int);
    timer_gettime(timer, &left);
    printf(" disarmed %d overrun %d\n", left.it_value.tv_nsec == 0, timer_getoverrun(timer));

    /* Without a description: SIGALRM. */
    printf("plain %d", timer_create(CLOCK_REALTIME, NULL, &other));
    clock_gettime(CLOCK_REALTIME, &time.it_value);
    time.it_value.tv_nsec += 10000000;
    if (time.it_value.tv_nsec >= 1000000000) time.it_value.tv_sec++, time.it_value.tv_nsec -= 1000000000;
    printf(" absolute %d", timer_settime(other, TIMER_ABSTIME, &time, NULL));
    printf(" alarm %d\n", sigwaitinfo(&set, &info) == SIGALRM);

    /* Again and again, while the signal is blocked: one signal, and the others are counted. */
    time.it_interval.tv_nsec = 1000000;
    time.it_value.tv_sec = 0;
    time.it_value.tv_nsec = 1000000;
    timer_settime(timer, 0, &time, NULL);
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    int signal = sigwaitinfo(&set, &info);
    printf("repeated %d", signal == SIGUSR1);
    memset(&time, 0, sizeof time);
    printf(" stop %d", timer_settime(timer, 0, &time, &left));
    printf(" interval %ld\n", left.it_interval.tv_nsec);

    /* With a handler. */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN, &action, NULL);
    timer_t third;
    event.sigev_signo = SIGRTMIN;
    event.sigev_value.sival_int = 5;
    timer_create(CLOCK_MONOTONIC, &event, &third);
    time.it_value.tv_nsec = 5000000;
    timer_settime(third, 0, &time, NULL);
    while (!handled) usleep(1000);
    printf("handled %d", (int)handled);
    printf(" delete %d %d", timer_delete(third), timer_delete(timer));
    errno = 0;
    printf(" again %d %s\n", timer_delete(third), strerror(errno));
    struct itimerval real = {{0, 0}, {100, 0}}, now;
    setitimer(ITIMER_REAL, &real, NULL);
    getitimer(ITIMER_REAL, &now);
    printf("real %d\n", now.it_value.tv_sec == 99 || now.it_value.tv_sec == 100);
}

static void counters(void) {
    uint64_t count = 0;
    int counter = eventfd(3, EFD_NONBLOCK);
    struct pollfd poller = {counter, POLLIN | POLLOUT, 0};

    printf("counter poll %d %x", poll(&poller, 1, 0), poller.revents);
    printf(" read %d", (int)read(counter, &count, sizeof count));
    printf(" is %d", (int)count);
    errno = 0;
    printf(" empty %d %s", (int)read(counter, &count, sizeof count), strerror(errno));
    count = 0x100000002;
    printf(" write %d", (int)write(counter, &count, sizeof count));
    count = 5;
    write(counter, &count, sizeof count);
    read(counter, &count, sizeof count);
    printf(" sum %llx", (unsigned long long)count);
    errno = 0;
    printf(" short %d %s\n", (int)read(counter, &count, 4), strerror(errno));
    close(counter);

    int semaphore = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
    int first = read(semaphore, &count, sizeof count);
    printf("semaphore %d %d", first, (int)count);
    printf(" %d", (int)read(semaphore, &count, sizeof count));
    printf(" %d\n", (int)read(semaphore, &count, sizeof count));
}

static void others(void) {
    long page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char there[3] = {0, 0, 0};
    memset(memory, 1, 3 * page);
    printf("in memory %d %d", mincore(memory, 3 * page, there), there[0] & there[1] & there[2] & 1);
    munmap(memory + page, page);
    errno = 0;
    printf(" hole %d %s\n", mincore(memory, 3 * page, there), strerror(errno));

    int pipes[2];
    struct sockaddr address;
    socklen_t length = sizeof address;
    pipe(pipes);
    errno = 0;
    printf("socket %d %s", getsockname(pipes[0], &address, &length), strerror(errno));
    errno = 0;
    printf(", %d %s\n", getpeername(99, &address, &length), strerror(errno));
    errno = 0;
    struct iovec part = {&address, 4};
    printf("at %d %s\n", (int)preadv(pipes[0], &part, 1, 4), strerror(errno));
}

static void several(void) {
    int sockets[2], counter = eventfd(0, 0), epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event, found[4];
    uint64_t count = 9;
    char text[8];

    printf("pair %d", socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets));
    event.events = EPOLLIN;
    event.data.u64 = 0x1122334455667788;
    printf(" add %d", epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[1], &event));
    errno = 0;
    printf(" twice %d %s", epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[1], &event), strerror(errno));
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.u32 = 2;
    printf(" counter %d", epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event));
    printf(" nothing %d\n", epoll_wait(epoll, found, 4, 5));

    printf("send %d", (int)send(sockets[0], "hello", 5, 0));
    write(counter, &count, sizeof count);
    int ready = epoll_wait(epoll, found, 4, -1);
    printf(" ready %d", ready);
    for (int i = 0; i < ready; i++)
        if (found[i].data.u64 == 0x1122334455667788) printf(" socket %x", found[i].events);
    for (int i = 0; i < ready; i++)
        if (found[i].data.u32 == 2) printf(" counter %x", found[i].events);
    printf(" again %d", epoll_wait(epoll, found, 4, 0));
    event.events = EPOLLIN;
    event.data.u32 = 3;
    printf(" armed %d", epoll_ctl(epoll, EPOLL_CTL_MOD, counter, &event));
    printf(" %d", epoll_wait(epoll, found, 4, 0));
    int got = recv(sockets[1], text, sizeof text, 0);
    printf(" recv %.*s", got, text);
    errno = 0;
    printf(" empty %d %s\n", (int)recv(sockets[1], text, sizeof text, MSG_DONTWAIT), strerror(errno));

    printf("deleted %d", epoll_ctl(epoll, EPOLL_CTL_DEL, counter, NULL));
    errno = 0;
    printf(" gone %d %s", epoll_ctl(epoll, EPOLL_CTL_MOD, counter, &event), strerror(errno));
    errno = 0;
    printf(" itself %d %s", epoll_ctl(epoll, EPOLL_CTL_ADD, epoll, &event), strerror(errno) ? "refused" : "");
    close(sockets[0]);
    ready = epoll_wait(epoll, found, 4, -1);
    printf(" closed %d %x", ready, found[0].events & EPOLLHUP);
    printf(" end %d", (int)read(sockets[1], text, sizeof text));
    errno = 0;
    printf(" broken %d %s\n", (int)send(sockets[1], text, 1, MSG_NOSIGNAL), strerror(errno));
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    timers();
    counters();
    several();
    others();
    return 0;
}
