#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
python3 -c 'print("converged")' | tee solver.log
status=${PIPESTATUS[0]}
echo "the solver ended with $status"
exit "$status"
