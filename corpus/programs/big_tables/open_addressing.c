/* De-duplicate a stream of 64-bit ids with an open-addressing table. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int bits = argc > 1 ? atoi(argv[1]) : 20;
    uint64_t ids = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    uint64_t mask = ((uint64_t)1 << bits) - 1, *slot = calloc(mask + 1, sizeof *slot);
    uint64_t x = 99, unique = 0;
    if (!slot || ids > mask / 2 + mask / 4)
        return 1;
    for (uint64_t i = 0; i < ids; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t id = x | 1, at = (id * 0x9E3779B97F4A7C15ull) >> (64 - bits);
        while (slot[at] && slot[at] != id)
            at = (at + 1) & mask;
        unique += slot[at] != id;
        slot[at] = id;
    }
    printf("%llu different\n", (unsigned long long)unique);
    return 0;
}
