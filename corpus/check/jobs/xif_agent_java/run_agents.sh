#!/bin/bash
#SBATCH --job-name=agents
#SBATCH --ntasks=1
#SBATCH --time=00:20:00
#SBATCH --mem=2G

set -e
module load java
mkdir -p classes
javac -d classes src/Market.java
java -cp classes MarketSim 20 100 7 > wealth.txt
sort -n wealth.txt | tail -n 3
