#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
set -u
workdir=$PWD/work
mkdir -p "$workdir"
cp /etc/hostname "$wrkdir/host"
