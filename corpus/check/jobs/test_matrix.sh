#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=500M
#SBATCH --exclusive=user
failed=0
for solver in cg gmres; do
    for pre in none ilu; do
        name=$solver-$pre
        if ( [ "$pre" != none ] || [ $solver = cg ] ) && echo ok > "$name.log"; then
            echo "PASS $name"
        else
            echo "SKIP $name"
        fi
    done
done
exit $failed
