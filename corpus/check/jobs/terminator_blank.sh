#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
cat > namd.conf <<END
timestep 2.0
numsteps 500000
END 
echo "running namd2 namd.conf"
test -s namd.conf && exit 0
