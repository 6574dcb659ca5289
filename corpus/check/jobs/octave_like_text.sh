#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
# writes an input deck; nothing here is shell
cat > deck.inp <<'DECK'
! HF def2-SVP opt
%pal nprocs 4 end
* xyz 0 1
O 0.0 0.0 0.0
H 0.0 0.7 0.6
H 0.0 -0.7 0.6
*
if (unbalanced { $undefined `
DECK
wc -l deck.inp
