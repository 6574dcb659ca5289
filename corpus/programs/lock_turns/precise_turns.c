/* Takes a lock file in exact intervals: sleeping is too coarse, so it spins until its slot. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv)
{
    int turns = atoi(argv[1]);
    double slot = atof(argv[2]), next = now(), worst = 0;
    for (int k = 0; k < turns; k++) {
        next += slot;
        while (now() < next)
            ;
        int fd = open("slot.lock", O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd < 0) {
            sleep(1); /* someone else has it */
            continue;
        }
        double late = now() - next;
        worst = late > worst ? late : worst;
        close(fd);
        unlink("slot.lock");
    }
    printf("%d turns, at worst %.1f us late\n", turns, 1e6 * worst);
    return 0;
}
