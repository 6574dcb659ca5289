#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t table[256];

int main(int argc, char **argv)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    uint32_t last = 0;
    for (int pass = atoi(argv[2]); pass > 0; pass--) {
        FILE *f = fopen(argv[1], "rb");
        if (!f)
            return 1;
        unsigned char buffer[1 << 14];
        uint32_t crc = ~last;
        size_t n;
        while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
            for (size_t i = 0; i < n; i++)
                crc = table[(crc ^ buffer[i]) & 255] ^ crc >> 8;
        last = ~crc;
        fclose(f);
    }
    printf("%08x\n", last);
    return 0;
}
