#!/bin/bash
#SBATCH --job-name=wave1d
#SBATCH --time=00:05:00
#SBATCH --mem=500M
set -e
mkdir -p obj
cd obj
for f in kinds params wave; do
    gfortran -O1 -c ../src/$f.f90
done
gfortran -o ../wave kinds.o params.o wave.o
cd - > /dev/null
./wave <<NML
&run nx = 40, nt = ${NT:-20}, c = 0.5 /
NML
[[ $(wc -l < wave.dat) -eq 40 ]]
