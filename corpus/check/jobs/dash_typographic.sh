#!/bin/bash
#SBATCH --mem=1G
#SBATCH –-time=01:00:00
seq 10 | tail -1
