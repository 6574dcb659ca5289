#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
declare -A seen=()
seq=ATGGCCATGGCGCCCAGAACTGAGATCAATAG
while (( ${#seq} >= 3 )); do
    codon=${seq:0:3}
    seq=${seq:3}
    seen[$codon]=$(( ${seen[$codon]:-0} + 1 ))
done
for codon in "${!seen[@]}"; do echo "$codon ${seen[$codon]}"; done | sort > codons.txt
[[ $(< codons.txt) =~ ATG\ 2 ]]
