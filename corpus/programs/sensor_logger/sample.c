#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* sample COUNT MILLISECONDS */
int main(int argc, char **argv)
{
    int count = atoi(argv[1]);
    long ms = atol(argv[2]);
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    FILE *log = fopen("samples.csv", "w");
    double level = 0;
    for (int k = 0; k < count; k++) {
        for (int i = 1; i < 50000; i++) /* smooth the reading */
            level += 0.001 * (sin(k + i) - level);
        fprintf(log, "%d,%.5f\n", k, level);
        fflush(log);
        nanosleep(&pause, NULL);
    }
    fclose(log);
    return 0;
}
