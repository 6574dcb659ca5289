#!/usr/bin/env perl
use strict;
use warnings;
my $n = 0
while (my $line = <>) {
    next if $line =~ /^#/;
    my @f = split /\t/, $line;
    print join("\t", $f[0], $f[3] - 1, $f[4]), "\n";
    $n++;
}
print STDERR "$n features\n";
