#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t gate;
static int rounds;

static void *station(void *arg)
{
    long me = (long)arg;
    double level = me;
    for (int r = 0; r < rounds; r++) {
        for (int k = 0; k < 20000; k++)
            level = level * 0.999 + 0.001 * k;
        usleep(me == r % 4 ? 400000 : 1000); /* one is always late */
        pthread_barrier_wait(&gate);
    }
    printf("station %ld: %.3f\n", me, level);
    return NULL;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4;
    rounds = argc > 2 ? atoi(argv[2]) : 10;
    pthread_t thread[64];
    pthread_barrier_init(&gate, NULL, n);
    for (long k = 0; k < n && k < 64; k++)
        pthread_create(&thread[k], NULL, station, (void *)k);
    for (int k = 0; k < n && k < 64; k++)
        pthread_join(thread[k], NULL);
    return 0;
}
