#!/bin/bash
#SBATCH --job-name=count
#SBATCH --ntasks=1
#SBATCH --mem=500M
#SBATCH --time=10
set -e
printf 'ok 1\nok 2\n' > run.log
# grep -c exits with 1 when nothing matches; that is a result here, not a failure
bad=$(grep -c '^fail' run.log || true)
echo "failures: $bad"
test "$bad" -eq 0
