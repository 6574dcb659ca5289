#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -e
cat > pump.c <<'SRC'
#include <stdio.h>
int main(void) {
    printf("%d\n", 42);
    return 0;
}
SRC
gcc -O2 pump.c -o pump_curve
./pumpcurve > curve.txt
