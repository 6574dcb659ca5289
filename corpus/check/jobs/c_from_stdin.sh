#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
module load gcc/12.2.0
gcc -O2 -x c -o collatz - -lm <<'C' || exit
#include <math.h>
#include <stdio.h>
int main(void) {
    unsigned long long n = 27; int steps = 0;
    while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; ++steps; }
    printf("%d %.3f\n", steps, log2(steps));
    return 0;
}
C
./collatz
