#include <stdio.h>
#include <stdlib.h>

int main(void) {
    double *u = malloc(400UL * 1024 * 1024 * sizeof(double));
    if (!u) { fprintf(stderr, "no memory\n"); return 1; }
    for (size_t i = 0; i < 400UL * 1024 * 1024; i += 512) u[i] = 1.0;
    printf("%f\n", u[512]);
    return 0;
}
