#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* 1D-decomposed Jacobi for the Poisson equation on a line */
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = atoi(argv[1]) / size;
    double tol = atof(argv[2]), h = 1.0 / (n * size), glob = 1;
    double *u = calloc(n + 2, sizeof *u), *v = calloc(n + 2, sizeof *v);
    int left = rank ? rank - 1 : MPI_PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (long it = 0; glob > tol && it < 200000; it++) {
        MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[n + 1], 1, MPI_DOUBLE,
                     right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[n], 1, MPI_DOUBLE, right, 1, &u[0], 1, MPI_DOUBLE,
                     left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double d = 0;
        for (int i = 1; i <= n; i++) {
            v[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h);
            d = fmax(d, fabs(v[i] - u[i]));
        }
        for (int i = 1; i <= n; i++) u[i] = v[i];
        MPI_Allreduce(&d, &glob, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (!rank) printf("ranks %d residual %g\n", size, glob);
    free(u); free(v);
    MPI_Finalize();
    return 0;
}
