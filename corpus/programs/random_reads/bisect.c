/* Binary search for keys in a sorted file that is larger than what fits in a buffer. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct stat st;
    void *page;
    int fd = argc > 2 ? open(argv[1], O_RDONLY | O_DIRECT) : -1, searches = atoi(argv[2]);
    if (fd < 0 || fstat(fd, &st) != 0 || posix_memalign(&page, 4096, 4096) != 0) {
        perror(argv[1]);
        return 1;
    }
    uint64_t pages = st.st_size / 4096, x = 7, steps = 0;
    for (int s = 0; s < searches; s++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t low = 0, high = pages, target = (x >> 20) % pages;
        while (low + 1 < high) {
            uint64_t middle = (low + high) / 2;
            if (pread(fd, page, 4096, middle * 4096) != 4096)
                return 1;
            steps++;
            if (middle <= target)
                low = middle;
            else
                high = middle;
        }
    }
    printf("%llu pages read\n", (unsigned long long)steps);
    return 0;
}
