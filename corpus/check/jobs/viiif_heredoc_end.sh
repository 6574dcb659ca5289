#!/bin/bash
#SBATCH --job-name=namd
#SBATCH --time=2:00:00
#SBATCH --mem=8G
set -e
if [ ! -e eq.conf ]; then
    cat > eq.conf <<EOF
structure   sys.psf
coordinates sys.pdb
temperature 310
    EOF
fi
grep temperature eq.conf
