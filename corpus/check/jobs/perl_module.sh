#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
set -e
cat > parse.pl <<'EOF'
use strict;
use List::Utill qw(sum);
print sum(1, 2, 3), "\n";
EOF
perl parse.pl
