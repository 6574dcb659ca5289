#!/usr/bin/env perl
use strict; use warnings;
use Getopt::Long qw(GetOptions);
my $min = 1;
GetOptions('min=i' => \$min) or die "usage: $0 [--min N] FILE\n";
my %n;
open my $in, '<', $ARGV[0] or die "$ARGV[0]: $!";
while (<$in>) { chomp; $n{length()}++ }
print <<"END" . <<'RAW';
at least $min: @{[ join ' ', grep { $n{$_} >= $min } sort { $a <=> $b } keys %n ]}
END
$not @filled
RAW
__END__
Anything (may { stand here.
