/* 1-d shallow water in slabs, halo of one cell on each side */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#define G 9.81

int main(int argc, char **argv)
{
    int rank, size, nx = 0, nt = 0;
    double dx = 0, dt = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0) {
        FILE *f = fopen(argv[1], "r");
        if (!f || fscanf(f, "%d %d %lf %lf", &nx, &nt, &dx, &dt) != 4)
            MPI_Abort(MPI_COMM_WORLD, 3);
        fclose(f);
    }
    MPI_Bcast(&nx, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&nt, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&dx, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&dt, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    int n = nx / size;
    double *h = calloc(n + 2, sizeof *h), *u = calloc(n + 2, sizeof *u);
    double *hn = calloc(n + 2, sizeof *h), *un = calloc(n + 2, sizeof *u);
    for (int i = 0; i < n + 2; i++)
        h[i] = 10.0 + exp(-pow((rank * n + i - nx / 2) * dx / 5e4, 2));
    int left = rank ? rank - 1 : MPI_PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int t = 0; t < nt; t++) {
        MPI_Sendrecv(&h[1], 1, MPI_DOUBLE, left, 0, &h[n + 1], 1, MPI_DOUBLE, right, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[n], 1, MPI_DOUBLE, right, 1, &u[0], 1, MPI_DOUBLE, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= n; i++) {
            un[i] = u[i] - dt * G * (h[i + 1] - h[i]) / dx;
            hn[i] = h[i] - dt * 10.0 * (u[i] - u[i - 1]) / dx;
        }
        double *s = h; h = hn; hn = s;
        s = u; u = un; un = s;
    }
    double m = 0, all;
    for (int i = 1; i <= n; i++) m += h[i] * dx;
    MPI_Reduce(&m, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("mass %.6e\n", all);
    MPI_Finalize();
    return 0;
}
