/* Sorts small runs and spills each to a file that is written through to the disk. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int runs = atoi(argv[1]) * 40;
    long n = atol(argv[2]) / 40 / 1024 * 1024;
    uint32_t *run;
    if (posix_memalign((void **)&run, 4096, n * 4))
        return 1;
    for (int r = 0; r < runs; r++) {
        for (long i = 0; i < n; i++)
            run[i] = i * 64 + r; /* comes in order from the device already */
        char name[32];
        snprintf(name, sizeof name, "run%03d", r % 20);
        int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_DIRECT | O_SYNC, 0644);
        if (fd < 0)
            return 1;
        for (long done = 0; done < n * 4; done += 32768)
            if (write(fd, (char *)run + done, n * 4 - done < 32768 ? n * 4 - done : 32768) < 0) {
                perror(name);
                return 1;
            }
        close(fd);
    }
    puts("spilled");
    return 0;
}
