#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static double half(double rate);
int main(int argc, char *argv[])
{
    double rate = argc > 1 ? atof(argv[1]) : 1.0;
    printf("%.3f\n", half(rate));
    return EXIT_SUCCESS;
}
static double half(double rate) { return log(2.0) / rate; }
