#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000, hit = 0;
    #pragma omp parallel reduction(+:hit)
    {
        unsigned s = 17u + omp_get_thread_num();
        #pragma omp for
        for (long i = 0; i < n; i++) {
            double x = rand_r(&s) / (RAND_MAX + 1.0);
            double y = rand_r(&s) / (RAND_MAX + 1.0);
            if (x * x + y * y < 1.0) hit++;
        }
    }
    printf("threads %d pi %.6f\n", omp_get_max_threads(), 4.0 * hit / n);
    return 0;
}
