#include <stdio.h>
#include <stdlib.h>

/* shrink IN OUT FACTOR: box filter on a binary PGM */
int main(int argc, char **argv)
{
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    int w, h, f = atoi(argv[3]);
    if (!in || !out || fscanf(in, "P5 %d %d 255", &w, &h) != 2)
        return 1;
    getc(in);
    unsigned char *image = malloc((size_t)w * h);
    if (fread(image, 1, (size_t)w * h, in) != (size_t)w * h)
        return 1;
    fprintf(out, "P5\n%d %d\n255\n", w / f, h / f);
    for (int y = 0; y + f <= h; y += f)
        for (int x = 0; x + f <= w; x += f) {
            unsigned sum = 0;
            for (int j = 0; j < f; j++)
                for (int i = 0; i < f; i++)
                    sum += image[(y + j) * w + x + i];
            putc(sum / (f * f), out);
        }
    fclose(out);
    return 0;
}
