#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Edge strength of frames of a camera, VGA. The frames are synthetic. */
enum { W = 640, H = 480 };
static unsigned char in[H][W], out[H][W];

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 25;
    long edges = 0;
    for (int f = 0; f < frames; f++) {
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                in[y][x] = ((x + f) ^ y) & 0xff;
        for (int y = 1; y < H - 1; y++)
            for (int x = 1; x < W - 1; x++) {
                int gx = in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1]
                         - in[y - 1][x - 1] - 2 * in[y][x - 1] - in[y + 1][x - 1];
                int gy = in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1]
                         - in[y - 1][x - 1] - 2 * in[y - 1][x] - in[y - 1][x + 1];
                double g = sqrt(gx * gx + gy * gy);
                out[y][x] = g > 255 ? 255 : g;
                edges += g > 200;
            }
    }
    printf("%ld\n", edges / frames);
    return 0;
}
