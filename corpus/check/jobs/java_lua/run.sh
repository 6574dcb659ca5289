#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=4G
module load java 2>/dev/null
export PATH=$PATH:$HOME/opt/bin
javac Sum.java && java -Xmx2g Sum 1 2 3
lua scale.lua 3
