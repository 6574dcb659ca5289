#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
perl gc.pl genome.fa
