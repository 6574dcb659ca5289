#!/usr/bin/perl
use strict;
use warnings;
use Getopt::Long;
my $min = 10;
GetOptions('min=i' => \$min) or die "usage: $0 [--min Q]\n";
while (my $line = <STDIN>) {
    chomp $line;
    my ($name, $q) = split /\t/, $line;
    next if $q < $min;
    print "$name\t$q\n";
}
