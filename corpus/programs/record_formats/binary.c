/* Decode telemetry packets: variable-length integers, zigzag deltas, a checksum each. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char buffer[1 << 16];

static size_t put(unsigned char *p, uint32_t v)
{
    size_t n = 0;
    while (v > 127) {
        p[n++] = v | 128;
        v >>= 7;
    }
    p[n++] = v;
    return n;
}

static size_t get(const unsigned char *p, uint32_t *v)
{
    size_t n = 0;
    int shift = 0;
    *v = 0;
    do {
        *v |= (uint32_t)(p[n] & 127) << shift;
        shift += 7;
    } while (p[n++] & 128);
    return n;
}

int main(int argc, char **argv)
{
    int packets = argc > 1 ? atoi(argv[1]) : 10, wrong = 0;
    long long total = 0;
    for (int k = 0; k < packets; k++) {
        size_t size = 0, at = 0;
        uint32_t sum = 0, crc = 0;
        for (int i = 0; i < 8000; i++) {
            int delta = (i * (k % 100 + 7)) % 301 - 150;
            size += put(buffer + size, (uint32_t)(delta << 1) ^ (uint32_t)(delta >> 31));
        }
        for (size_t i = 0; i < size; i++)
            sum = sum * 33 + buffer[i];
        int value = 0;
        while (at < size) {
            uint32_t z;
            size_t n = get(buffer + at, &z);
            for (size_t i = 0; i < n; i++)
                crc = crc * 33 + buffer[at + i];
            value += (int)(z >> 1) ^ -(int)(z & 1);
            at += n;
        }
        wrong += crc != sum;
        total += value;
    }
    printf("%lld, %d wrong\n", total, wrong);
    return wrong != 0;
}
