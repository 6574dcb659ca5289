#!/bin/bash
#SBATCH --time=00:05:00
#SBATCH --mem=200M
seq 1 50 > numbers.txt
