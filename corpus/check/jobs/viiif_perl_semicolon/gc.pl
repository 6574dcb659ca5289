#!/usr/bin/perl
use strict;
use warnings;

my ($gc, $all) = (0, 0)
while (my $line = <>) {
    next if $line =~ /^>/;
    chomp $line;
    $gc  += ($line =~ tr/GCgc//);
    $all += length $line;
}
printf "%.3f\n", $gc / $all;
