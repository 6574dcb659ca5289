#!/bin/bash
#SBATCH -J pref
#SBATCH --time=2:00:00
#SBTACH --mem=32G
#SBATCH -c 4
seq 10 | tail -1
