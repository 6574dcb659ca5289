#!/bin/bash
#SBATCH --time=40
#SBATCH --mem=1G
set -eu
# the activate script of our old environment reads unset variables
cat > activate <<'A'
if [ "$OLD_PATH_SAVED" = 1 ]; then return; fi
export OLD_PATH_SAVED=1
A
set +u
. ./activate
set -u
echo "saved: $OLD_PATH_SAVED"
