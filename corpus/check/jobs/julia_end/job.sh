#!/bin/bash
#SBATCH -t 60
#SBATCH --mem=4G
module load julia/1.9.3
julia pendulum.jl
