#!/bin/bash
#SBATCH --exclusive
#SBATCH --nodes=1
#SBATCH --mem=0
#SBATCH --time=01:00:00
# all memory and cores of the node; -j from the node, not from the request
nproc > cores.txt
echo "using $(cat cores.txt) cores"
