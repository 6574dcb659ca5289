#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
gfortran -std=legacy -o old old.f && ./old
