#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
javac Mean.java && java Mean
