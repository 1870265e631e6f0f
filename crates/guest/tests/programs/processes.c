/* Processes: fork, pipes, wait, execve of itself, posix_spawn, signals between them, a pipe nobody reads. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static volatile int children;
static void reaped(int sig) { children++; }
static void say(const char *text) { write(1, text, strlen(text)); }
int main(int argc, char **argv) {
    if (argc > 1) { printf("program again: %s, FD %s\n", argv[1], getenv("MARK") ? getenv("MARK") : "none"); return 7; }
    signal(SIGCHLD, reaped);
    int ends[2], status; pipe(ends);
    int variable = 1;
    pid_t child = fork();
    if (!child) {
        variable = 2; close(ends[0]);
        for (int i = 0; i < 100000; i++) if (write(ends[1], "0123456789", 10) != 10) _exit(9);
        _exit(3);
    }
    close(ends[1]);
    char buffer[4096]; long total = 0, n;
    while ((n = read(ends[0], buffer, sizeof buffer)) > 0) total += n;
    pid_t ended; while ((ended = wait(&status)) < 0 && errno == EINTR);
    printf("child %d bytes %ld code %d variable %d handler %d\n", ended == child, total, WEXITSTATUS(status), variable, children);
    fflush(stdout);
    child = fork();
    if (!child) { setenv("MARK", "set", 1); char *arguments[] = { "self", "exec", 0 }; execve("/proc/self/exe", arguments, environ); _exit(1); }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR);
    printf("exec code %d\n", WEXITSTATUS(status)); fflush(stdout);
    char *arguments[] = { "self", "spawn", 0 };
    if (posix_spawn(&child, "/proc/self/exe", 0, 0, arguments, environ)) return 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR);
    printf("spawn code %d\n", WEXITSTATUS(status));
    printf("spawn of nothing: %s\n", strerror(posix_spawn(&child, "/nowhere", 0, 0, arguments, environ))); fflush(stdout);
    child = fork();
    if (!child) for (;;) pause();
    kill(child, SIGTERM);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR);
    printf("signaled %d by %d\n", WIFSIGNALED(status), WTERMSIG(status)); fflush(stdout);
    pipe(ends); close(ends[0]); signal(SIGPIPE, SIG_IGN);
    n = write(ends[1], "x", 1); printf("pipe %ld %s\n", n, strerror(errno));
    n = waitpid(-1, &status, WNOHANG); printf("nobody %ld %s\n", n, strerror(errno)); fflush(stdout);
    signal(SIGPIPE, SIG_DFL); write(ends[1], "x", 1);
    return 0;
}
