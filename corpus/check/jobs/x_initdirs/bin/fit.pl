#!/usr/bin/perl
use strict; use warnings;
my ($f, $k) = @ARGV;
open my $c, '<', 'const.txt' or die "const: $!"; chomp(my $g = <$c>); close $c;
open my $h, '<', $f or die "$f: $!";
my ($n, $s) = (0, 0);
while (<$h>) { next unless /\S/; $s += $_ ** $k; $n++ }
printf "%.4f\n", $g * $s / $n;
