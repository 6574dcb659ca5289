#!/usr/bin/perl
use strict;
use warnings;
use FindBin qw($Bin);

# Times a kernel for several array lengths.
my $rounds = shift // 10;
system('gfortran', '-O2', '-o', 'triad', "$Bin/triad.f90") == 0 or die "no compiler";
my %result;
for my $n (20_000_000, 24_000_000, 28_000_000) {
    my $out = `./triad $n $rounds`;
    die "triad failed" if $?;
    $result{$n} = (split ' ', $out)[1];
}
printf "%9d %.4f\n", $_, $result{$_} for sort { $a <=> $b } keys %result;
