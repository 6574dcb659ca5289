#!/usr/bin/perl
use strict;
use warnings;
use File::Basename qw(dirname);

# loads the same day several times (late corrections)
my ($times, $rows) = @ARGV;
my $here = dirname(__FILE__);
open my $csv, '>', 'clean.csv' or die $!;
printf $csv "t%d,%d,%s,%.2f\n", $_ % 3, $_, ('Amber', 'Cedar')[ $_ % 2 ], $_ * 0.37 for 1 .. $rows;
close $csv;
for my $time (1 .. $times) {
    system('python3', "$here/load.py", $rows) == 0 or die "load failed: $?";
}
