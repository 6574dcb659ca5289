#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
perl words.pl text.txt
