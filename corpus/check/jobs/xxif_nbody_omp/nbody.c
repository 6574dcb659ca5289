#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { double x, y, z, vx, vy, vz; } body;

static double rnd(void) { return rand() / (double)RAND_MAX - 0.5; }

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    int steps = argc > 2 ? atoi(argv[2]) : 10;
    const double dt = 1e-3, eps = 1e-4;
    body *b = malloc(n * sizeof *b);
    if (!b) return 1;
    for (int i = 0; i < n; i++) b[i] = (body){rnd(), rnd(), rnd(), 0, 0, 0};

    for (int s = 0; s < steps; s++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++) {
            double ax = 0, ay = 0, az = 0;
            for (int j = 0; j < n; j++) {
                double dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z;
                double r2 = dx * dx + dy * dy + dz * dz + eps;
                double inv = 1.0 / (r2 * sqrt(r2));
                ax += dx * inv; ay += dy * inv; az += dz * inv;
            }
            b[i].vx += dt * ax / n; b[i].vy += dt * ay / n; b[i].vz += dt * az / n;
        }
        double e = 0;
#pragma omp parallel for reduction(+ : e)
        for (int i = 0; i < n; i++) {
            b[i].x += dt * b[i].vx; b[i].y += dt * b[i].vy; b[i].z += dt * b[i].vz;
            e += 0.5 * (b[i].vx * b[i].vx + b[i].vy * b[i].vy + b[i].vz * b[i].vz);
        }
        printf("%d %.8e\n", s, e);
    }
    free(b);
    return 0;
}
