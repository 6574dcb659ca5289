#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    double base = argc > 1 ? atof(argv[1]) : 1.1;
    for (int i = 0; i < 5; i++)
        printf("%d %g\n", i, pow(base, i * 0.5));
    return 0;
}
