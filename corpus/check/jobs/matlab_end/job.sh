#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=4G
matlab -batch "grow(10)"
