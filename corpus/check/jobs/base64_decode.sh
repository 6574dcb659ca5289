#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
echo IyEvYmluL3NoCmVjaG8gZGVjb2RlZAo= | base64 -d > decoded.sh
sh decoded.sh
