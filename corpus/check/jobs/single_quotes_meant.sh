#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
echo 'Price: $5 for ${amount}'
perl -e 'my $x = 3; print "$x\n";'
python3 -c 'd = {"$HOME": 1}; print(d)'
sed 's/$/;/' <<< "line"
