#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=1G
cd paper
make clean && make figs
