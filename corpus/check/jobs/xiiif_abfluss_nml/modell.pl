#!/usr/bin/env perl
# zwei lineare Speicher parallel
use strict;
use warnings;

my $nml = shift or die "usage: $0 NAMELIST\n";
my %p;
open my $n, '<', $nml or die "$nml: $!\n";
while (<$n>) {
    chomp;
    next unless /=/;
    my ($k, $v) = split /=/, $_, 2;
    $p{$k} = $v;
}
close $n;

open my $r, '<', $p{regen} or die "$p{regen}: $!\n";
my ($s1, $s2) = (0, 20);
while (<$r>) {
    next if /^#/;
    my ($tag, $mm) = split;
    $s1 += 0.3 * $mm;
    $s2 += 0.4 * $mm;
    my ($q1, $q2) = ($p{k1} * $s1, $p{k2} * $s2);
    $s1 -= $q1;
    $s2 -= $q2;
    printf "%d %.3f\n", $tag, $q1 + $q2;
}
