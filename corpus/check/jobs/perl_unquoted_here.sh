#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
cat > gc.pl <<EOF
my $gc = 0;
foreach my $base (qw(G C A T G)) { $gc++ if $base =~ /[GC]/; }
print "$gc\n";
EOF
perl gc.pl
