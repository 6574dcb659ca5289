#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
    if (argc != 3) { fprintf(stderr, "usage: %s N FILE\n", argv[0]); return 1; }
    FILE *f = fopen(argv[2], "w");
    if (!f) { perror(argv[2]); return 1; }
    for (int i = 0; i < atoi(argv[1]); i++) fprintf(f, "%d %f\n", i, sin(0.1 * i));
    return fclose(f);
}
