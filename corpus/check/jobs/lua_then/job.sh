#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
lua count.lua
