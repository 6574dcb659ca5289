#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a and a rolling Rabin-Karp fingerprint over a buffer: content-defined chunks. */
int main(int argc, char **argv)
{
    size_t size = (argc > 1 ? strtoul(argv[1], 0, 10) : 1) << 20;
    int passes = argc > 2 ? atoi(argv[2]) : 1;
    unsigned char *data = malloc(size);
    uint32_t x = 1;
    size_t chunks = 0;
    uint64_t all = 0;

    if (data == NULL)
        return 1;
    for (size_t i = 0; i < size; i++) {
        x = x * 1103515245u + 12345u;
        data[i] = x >> 16;
    }
    for (int p = 0; p < passes; p++) {
        uint64_t hash = 1469598103934665603ull, roll = 0;
        for (size_t i = 0; i < size; i++) {
            hash = (hash ^ data[i]) * 1099511628211ull;
            roll = roll * 31 + data[i];
            if ((roll & 0xfff) == 0) {
                chunks++;
                all ^= hash;
                hash = 1469598103934665603ull;
            }
        }
    }
    printf("%zu chunks %016llx\n", chunks, (unsigned long long)all);
    return 0;
}
