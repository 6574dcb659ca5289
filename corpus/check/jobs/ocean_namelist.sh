#!/bin/bash
#SBATCH -J ocean
#SBATCH -t 30
#SBATCH --mem=1G

NLAT=90
NLON=180

cat > ocean.nml <<'EOF'
&grid
 nlat = $NLAT,
 nlon = $NLON,
/
EOF

awk -F'[=,]' '/nlat|nlon/ { if ($2 + 0 < 1) { print "bad grid:", $0; exit 1 } }' ocean.nml
