/* Run-length and delta coding of scan lines; reads nothing, writes a preview. */
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 2000

static int encode(const unsigned char *line, unsigned char *out)
{
    int used = 0;
    for (int i = 0; i < WIDTH;) {
        int run = 1;
        while (i + run < WIDTH && run < 255 && line[i + run] == line[i])
            run++;
        out[used++] = run;
        out[used++] = line[i];
        i += run;
    }
    return used;
}

int main(int argc, char **argv)
{
    static unsigned char line[WIDTH], out[2 * WIDTH];
    long lines = argc > 1 ? atol(argv[1]) : 1000, bytes = 0;
    unsigned x = 7;
    FILE *preview = fopen("preview.bin", "wb");
    if (!preview)
        return 1;
    for (long n = 0; n < lines; n++) {
        for (int i = 0; i < WIDTH; i++) {
            x = x * 69069 + 1;
            line[i] = (x >> 27) == 0 ? x >> 16 : i ? line[i - 1] : 0;
        }
        int used = encode(line, out);
        bytes += used;
        if (n % 1000 == 0)
            fwrite(out, 1, used, preview);
    }
    fclose(preview);
    printf("%.3f\n", (double)bytes / lines / WIDTH);
    return 0;
}
