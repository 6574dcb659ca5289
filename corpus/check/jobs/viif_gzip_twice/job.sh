#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
seq 100 > reads.fq
gzip reads.fq
wc -l reads.fq
