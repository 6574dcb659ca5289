#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -e
gcc -o fit fit.c
./fit spectrum.dat
