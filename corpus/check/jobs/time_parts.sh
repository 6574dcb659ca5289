#!/bin/bash
#SBATCH --time=1:12:00:00
#SBATCH --mem=1G
seq 10 | tail -1
