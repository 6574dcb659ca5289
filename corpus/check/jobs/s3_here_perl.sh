#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
limit=3
cat > filter.pl <<END
my \$limit = $limit;
while (<STDIN>) { print if \$_ > \$limit; }
END
seq 5 | perl filter.pl > kept.txt
test "$(wc -l < kept.txt)" -eq 2
