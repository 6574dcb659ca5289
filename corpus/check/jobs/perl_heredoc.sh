#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
perl <<'PERL'
use strict; use warnings;
my %h = (a => [1, 2], b => [3]);
for my $k (sort keys %h) { print "$k: @{$h{$k}}\n" }
print <<"END";
nested here-document of perl
END
PERL
