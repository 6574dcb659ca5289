#!/usr/bin/perl
use strict;
use warnings;

# names of the gauges
my %name;
open(my $st, '<', 'stations.lst') or die "stations.lst: $!\n";
while (<$st>) {
    chomp;
    next if /^\s*(#|$)/;
    my ($id, $n) = split /;/;
    $name{$id} = $n;
}
close $st;

my %sum;
while (my $l = <>) {
    next if $l =~ /^#/;
    my ($id, $date, $mm) = split ' ', $l;
    next if $mm < 0;                     # -9 is missing
    my $mon = substr $date, 4, 2;
    $sum{$id}{$mon} += $mm;
}
for my $id (sort keys %sum) {
    for my $mon (sort keys %{ $sum{$id} }) {
        printf "%-12s %s %7.1f\n", $name{$id} // $id, $mon, $sum{$id}{$mon};
    }
}
