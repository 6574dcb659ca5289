#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
set -euo pipefail
temperature=300
cat > lammps.in <<EOF
units real
variable T equal $temperature
variable name string "run\${T}"
fix 1 all nvt temp \$T \$T 100
EOF
grep -c 'fix' lammps.in
