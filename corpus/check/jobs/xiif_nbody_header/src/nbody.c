#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "vec3.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: nbody STEPS DT\n");
        return 2;
    }
    int steps = atoi(argv[1]);
    double dt = atof(argv[2]);
    vec r = {1, 0, 0}, v = {0, 1, 0};
    for (int i = 0; i < steps; i++) {
        double d = pow(dot(r, r), -1.5);
        v.x -= dt * r.x * d; v.y -= dt * r.y * d; v.z -= dt * r.z * d;
        r.x += dt * v.x; r.y += dt * v.y; r.z += dt * v.z;
        printf("%d %.6f %.6f %.6f\n", i, r.x, r.y, r.z);
    }
    return 0;
}
