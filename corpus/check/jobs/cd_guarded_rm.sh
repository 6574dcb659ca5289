#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
mkdir -p old && touch old/x
cd old || exit 1
rm -f ./*
