#!/usr/bin/perl
use strict;
use warnings;
use Getopt::Long;
use My::Cleave qw(cleave);

my $min = 1;
GetOptions('min=i' => \$min) or die "usage: $0 [--min N]\n";
while (my $line = <STDIN>) {
    chomp $line;
    next if $line =~ /^\s*(#|$)/;
    printf "%s %d\n", $_, length for grep { length >= $min } cleave($line);
}
