#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long total = argc > 1 ? atol(argv[1]) : 1000, steps = argc > 2 ? atol(argv[2]) : 10;
    long n = total / size + (rank < total % size);
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    if (n && (!x || !y)) MPI_Abort(MPI_COMM_WORLD, 1);
    srand48(17 + rank);
    for (long i = 0; i < n; i++) { x[i] = drand48(); y[i] = drand48(); }
    for (long s = 0; s < steps; s++)
        for (long i = 0; i < n; i++) {
            double u = sin(2 * M_PI * y[i]), v = 0.1 * cos(2 * M_PI * x[i]);
            x[i] += 1e-3 * u; x[i] -= floor(x[i]);
            y[i] += 1e-3 * v; y[i] -= floor(y[i]);
        }
    double loc[2] = {0, 0}, sum[2];
    for (long i = 0; i < n; i++) { loc[0] += x[i]; loc[1] += y[i]; }
    MPI_Reduce(loc, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {                       /* only one writer */
        FILE *f = fopen("tracer_sum.txt", "w");
        if (f) { fprintf(f, "%.6f %.6f\n", sum[0] / total, sum[1] / total); fclose(f); }
    }
    free(x); free(y);
    MPI_Finalize();
    return 0;
}
