/* Eight threads: a counter under a mutex, a barrier, a condition, thread-local memory, what each returns. */
#include <pthread.h>
#include <stdio.h>
#include <semaphore.h>
#define COUNT 8
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t permits;
static int turn; static long counter, atomic_sum; static __thread long own;
static void *work(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock); counter++; pthread_mutex_unlock(&lock);
        __sync_fetch_and_add(&atomic_sum, me); own += me;
    }
    pthread_barrier_wait(&barrier);
    sem_wait(&permits); sem_post(&permits);
    pthread_mutex_lock(&lock);
    while (turn != me) pthread_cond_wait(&ready, &lock);
    printf("thread %ld own %ld\n", me, own);
    turn++; pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
    return (void *)(me * me);
}
int main(void) {
    pthread_t threads[COUNT]; long sum = 0;
    pthread_barrier_init(&barrier, 0, COUNT); sem_init(&permits, 0, 2);
    for (long i = 0; i < COUNT; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < COUNT; i++) { void *result; pthread_join(threads[i], &result); sum += (long)result; }
    printf("counter %ld atomic %ld squares %ld\n", counter, atomic_sum, sum);
    return 0;
}
