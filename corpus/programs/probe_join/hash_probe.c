/* Build and probe phases of a hash join with open addressing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31, x *= 0x7fb5d329728ea185u, x ^= x >> 27;
    return x;
}

int main(int argc, char **argv)
{
    int bits = atoi(argv[1]);
    uint64_t slots = 1ull << bits, mask = slots - 1, probes = strtoull(argv[2], NULL, 10), hits = 0;
    uint64_t *key = calloc(slots, sizeof *key), *value = calloc(slots, sizeof *value);
    if (!key || !value)
        return 1;
    for (uint64_t i = 1; i < slots / 2; i++) {
        uint64_t at = mix(i) & mask;
        while (key[at])
            at = (at + 1) & mask;
        key[at] = i, value[at] = i * 3;
    }
    for (uint64_t p = 1; p <= probes; p++) {
        uint64_t wanted = p * 7 % slots + 1, at = mix(wanted) & mask;
        while (key[at] && key[at] != wanted)
            at = (at + 1) & mask;
        hits += key[at] == wanted ? value[at] & 1 : 0;
    }
    printf("%llu\n", (unsigned long long)hits);
    return 0;
}
