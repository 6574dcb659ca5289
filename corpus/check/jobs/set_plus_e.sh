#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=1G
#SBATCH -J retry
set -e
step() { [ "$1" -ge 2 ]; }
set +e   # the solver is allowed to fail twice
for attempt in 0 1 2 3; do
    step $attempt
    status=$?
    [ $status -eq 0 ] && break
    echo "attempt $attempt failed with $status"
done
set -e
exit $status
