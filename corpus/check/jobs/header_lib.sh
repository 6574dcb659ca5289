#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
#SBATCH -J rng
set -e
cat > rng.c <<'EOF'
#include <stdio.h>
#include <gsl_not_installed/gsl_rng.h>
int main(void) { printf("ok\n"); return 0; }
EOF
gcc rng.c -o rng -lm
./rng
