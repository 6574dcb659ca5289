#!/bin/bash
set -euo pipefail
tree=$1
states=$2
echo "host $(hostname), slot ${_CONDOR_SLOT:-?}"
python3 asr.py "$tree" "$states" > "${tree%.nwk}.asr.tsv"
