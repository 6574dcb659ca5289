/* Reads a file past the page cache in small blocks, as some databases do. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    size_t block = atol(argv[2]);
    long most = atol(argv[3]), blocks = 0;
    void *buffer;
    if (posix_memalign(&buffer, 4096, block))
        return 1;
    int fd = open(argv[1], O_RDONLY | O_DIRECT);
    if (fd < 0) {
        perror(argv[1]);
        return 1;
    }
    unsigned long sum = 0;
    ssize_t n;
    while (blocks < most && (n = read(fd, buffer, block)) > 0) {
        sum += ((unsigned char *)buffer)[blocks % n];
        blocks++;
    }
    close(fd);
    printf("%ld blocks, %lu\n", blocks, sum);
    return 0;
}
