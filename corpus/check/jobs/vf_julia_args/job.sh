#!/bin/bash
#SBATCH --time=10 --mem=2G
module load julia/1.9.3
julia fit.jl
