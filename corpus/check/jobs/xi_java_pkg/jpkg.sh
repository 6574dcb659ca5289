#!/bin/bash
#SBATCH --job-name=jrank
#SBATCH --time=00:05:00
#SBATCH --mem=1G
set -e
B=$(mktemp -d ./build.XXXX)
trap 'rm -rf -- "$B"' EXIT
javac -d "$B" -sourcepath java java/org/lab/Rank.java
java -Xmx256m -cp "$B:." org.lab.Rank < links.txt > ranks.txt
