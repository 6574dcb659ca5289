#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
# the museum's export has quotes of every sort in it
cat > specimens.csv <<'EOF'
"12","O'Brien's site","5'10"" deep"
"13","Smith & Sons","n/a"
EOF
sed "s/'//g" specimens.csv | tr -d \" > plain.csv
awk -F, -v q="'" '{ print q $2 q }' plain.csv
echo 'it'"'"'s done: '"$(wc -l < plain.csv)"' lines'
grep -c \& plain.csv
