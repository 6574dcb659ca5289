/* transmission of neutrons through a slab, analog Monte Carlo */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long total = argc > 1 ? atol(argv[1]) : 1000000;
    long n = total / size, through = 0, all = 0;
    unsigned short st[3] = {(unsigned short)rank, 17, 4711};
    const double sig_t = 1.0, c = 0.6, thick = 3.0;
    for (long i = 0; i < n; i++) {
        double x = 0, mu = 1;
        for (;;) {
            x += -mu * log(1.0 - erand48(st)) / sig_t;
            if (x > thick) { through++; break; }
            if (x < 0 || erand48(st) > c) break;
            mu = 2 * erand48(st) - 1;
        }
    }
    MPI_Reduce(&through, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("T = %.6f (%d ranks)\n", (double)all / ((double)n * size), size);
    MPI_Finalize();
    return 0;
}
