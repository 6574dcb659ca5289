#!/bin/bash
#SBATCH --job-name=tides
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:30:00
set -euo pipefail
module load gcc/12.2.0
BIN=$PWD/bin
mkdir -p "$BIN"
gfortran -O2 -o "$BIN/tide" tide.f90
PATH=$BIN:$PATH
# gauge.dat is what the Fortran program reads; it is cut from the raw record
awk '!/^#/ && $3 != "NaN" {print $2, $3}' raw_gauge.txt > gauge.dat
tide
column=2
awk -v c=$column '{if ($c > m) m = $c} END {print "largest amplitude", m}' amplitudes.out
