#!/bin/sh
#SBATCH -t 10
#SBATCH --mem=100M
echo 'A=1' > settings.env
source ./settings.env
test "$A" = 1
