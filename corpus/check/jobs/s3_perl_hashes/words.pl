#!/usr/bin/perl
use strict;
use warnings;
my %seen;
open(my $in, '<', $ARGV[0]) or die "no $ARGV[0]: $!";
while (my $line = <$in>) {
    chomp $line;
    $seen{lc $_}++ for grep { /\w/ } split /[^\w']+/, $line;
}
close $in;
printf "%-8s %d\n", $_, $seen{$_} for sort { $seen{$b} <=> $seen{$a} || $a cmp $b } keys %seen;
