#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    double s = 0;
    for (int i = 1; i < argc; i++)
        s += atof(argv[i]) * atof(argv[i]);
    printf("%f\n", squareroot(s / (argc - 1)));
    return 0;
}
