/* A small two-layer network that learns the parity of 10 bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define IN 10
#define HIDDEN 48

static double w1[HIDDEN][IN + 1], w2[HIDDEN + 1];

static double noise(void) { return rand() / (double)RAND_MAX - 0.5; }

int main(int argc, char **argv)
{
    int epochs = argc > 1 ? atoi(argv[1]) : 10;
    srand(99);
    for (int h = 0; h < HIDDEN; h++)
        for (int i = 0; i <= IN; i++)
            w1[h][i] = noise();
    for (int h = 0; h <= HIDDEN; h++)
        w2[h] = noise();
    for (int e = 0; e < epochs; e++) {
        double error = 0;
        for (int n = 0; n < 1 << IN; n++) {
            double x[IN + 1], hidden[HIDDEN], out = w2[HIDDEN];
            int parity = 0;
            for (int i = 0; i < IN; i++) {
                x[i] = (n >> i & 1) ? 1 : -1;
                parity ^= n >> i & 1;
            }
            x[IN] = 1;
            for (int h = 0; h < HIDDEN; h++) {
                double sum = 0;
                for (int i = 0; i <= IN; i++)
                    sum += w1[h][i] * x[i];
                hidden[h] = tanh(sum);
                out += w2[h] * hidden[h];
            }
            double delta = (parity ? 1 : -1) - out;
            error += delta * delta;
            for (int h = 0; h < HIDDEN; h++) {
                double back = delta * w2[h] * (1 - hidden[h] * hidden[h]);
                w2[h] += 0.002 * delta * hidden[h];
                for (int i = 0; i <= IN; i++)
                    w1[h][i] += 0.002 * back * x[i];
            }
            w2[HIDDEN] += 0.002 * delta;
        }
        if (e % 50 == 0)
            printf("%d %.4f\n", e, error / (1 << IN));
    }
    return 0;
}
