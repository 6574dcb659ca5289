#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
module load gcc/12.2.0
go run walk.go
