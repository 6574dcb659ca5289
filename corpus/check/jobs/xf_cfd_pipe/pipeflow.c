#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 128;
    int steps = argc > 2 ? atoi(argv[2]) : 100;
    int chunk = n / size;
    double *u = calloc(chunk + 2, sizeof(double));
    for (int s = 0; s < steps; s++) {
        int up = (rank + 1) % size, dn = (rank + size - 1) % size;
        MPI_Sendrecv(&u[chunk], 1, MPI_DOUBLE, up, 0, &u[0], 1, MPI_DOUBLE, dn, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = chunk; i >= 1; i--) u[i] += 0.1 * (u[i - 1] - u[i]) + 1e-3;
    }
    double loc = 0, tot;
    for (int i = 1; i <= chunk; i++) loc += u[i];
    MPI_Reduce(&loc, &tot, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("mass %g\n", tot);
    free(u);
    MPI_Finalize();
    return 0;
}
