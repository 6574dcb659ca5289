/* 1-d slab decomposition of the heat equation, ghost cells by sendrecv */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#define NLOC 4096

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    double *u = malloc((NLOC + 2) * sizeof *u), *v = malloc((NLOC + 2) * sizeof *v);
    for (int i = 0; i < NLOC + 2; i++)
        u[i] = sin(0.001 * (i + (double)rank * NLOC));
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int t = 0; t < steps; t++) {
        MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[NLOC + 1], 1, MPI_DOUBLE, right, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[NLOC], 1, MPI_DOUBLE, right, 1, &u[0], 1, MPI_DOUBLE, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= NLOC; i++)
            v[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1]);
        v[0] = u[0]; v[NLOC + 1] = u[NLOC + 1];
        double *w = u; u = v; v = w;
    }
    double s = 0, tot;
    for (int i = 1; i <= NLOC; i++) s += u[i] * u[i];
    MPI_Reduce(&s, &tot, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks, energy %.10e\n", size, tot);
    MPI_Finalize();
    return 0;
}
