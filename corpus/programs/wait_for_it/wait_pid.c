/* The parent sleeps until its child is done. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned work(int rounds)
{
    unsigned perm[12], count[12], flips, worst = 0;
    for (int r = 0; r < rounds * 1000; r++) {
        unsigned x = r * 2654435761u;
        for (int i = 0; i < 12; i++)
            perm[i] = i;
        for (int i = 11; i > 0; i--, x = x * 1664525 + 1013904223) {
            unsigned j = x % (i + 1), t = perm[i];
            perm[i] = perm[j], perm[j] = t;
        }
        for (flips = 0; perm[0]; flips++)
            for (unsigned a = 0, b = perm[0]; a < b; a++, b--) {
                unsigned t = perm[a];
                perm[a] = perm[b], perm[b] = t;
            }
        count[r % 12] = flips;
        if (count[r % 12] > worst)
            worst = flips;
    }
    return worst;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10, status;
    pid_t child = fork();
    if (child == 0) {
        printf("%u flips\n", work(rounds * 10));
        fflush(stdout);
        _exit(0);
    }
    while (waitpid(child, &status, WNOHANG) == 0)
        sleep(1);
    return WEXITSTATUS(status);
}
