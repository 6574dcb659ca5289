#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=100M
name=survey
echo "report of $name is ready
date
echo "end of report"
