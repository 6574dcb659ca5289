#!/bin/bash
#SBATCH --time=5 --mem=100M
set -e
perl count.pl < reads.txt
