#!/bin/bash
#SBATCH --mem=300M --time=20
# one bc for all depths instead of one per depth
coproc CALC { bc -l; }
calc=$CALC_PID
for depth in 5 10 50 100; do
    echo "scale=4; 1025 * 9.81 * $depth / 10000" >&"${CALC[1]}"
    read -r pressure <&"${CALC[0]}"
    echo "$depth m: $pressure dbar"
done
echo quit >&"${CALC[1]}"
wait "$calc"
