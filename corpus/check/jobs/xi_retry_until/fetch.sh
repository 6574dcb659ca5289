#!/bin/bash
#SBATCH --job-name=fetch
#SBATCH --time=00:10:00
#SBATCH --mem=100M
set -euo pipefail

flaky() {
    local n
    n=$(cat .try 2> /dev/null || echo 0)
    echo $((n + 1)) > .try
    (( n >= 2 )) || return 75
    cp archive/data.dat "$1"
}

rm -f .try
tries=0
until flaky got.dat; do
    (( ++tries < 5 )) || { echo "giving up" >&2; exit 1; }
    sleep 0.1
done
echo "ok after $tries retries"
