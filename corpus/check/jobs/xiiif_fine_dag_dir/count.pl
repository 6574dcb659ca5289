#!/usr/bin/env perl
use strict;
use warnings;
my %n;
while (<>) { $n{ lc $_ }++ for /\w+/g }
printf "%s\t%d\n", $_, $n{$_} for sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
