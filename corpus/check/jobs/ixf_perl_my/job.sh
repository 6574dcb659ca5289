#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
perl count.pl < count.pl
