#!/usr/bin/perl
use strict;
use warnings;

my %taxon;
open my $t, '<', 'taxa.tsv' or die "taxa.tsv: $!\n";
while (<$t>) {
    chomp;
    my ($code, $latin) = split /\t/;
    $taxon{$code} = $latin;
}
close $t;

my %sum;
open my $c, '<', 'quadrats.tsv' or die "quadrats.tsv: $!\n";
while (<$c>) {
    chomp;
    my ($q, $code, $pc) = split /\t/;
    $sum{$code} += $pc;
}
close $c;

open my $o, '>', 'cover.csv' or die "cover.csv: $!\n";
print $o join(',', $taxon{$_} // $_, $sum{$_}), "\n" for sort keys %sum;
close $o;
