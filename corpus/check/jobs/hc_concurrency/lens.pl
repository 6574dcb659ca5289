#!/usr/bin/perl
use strict;
my ($model, $index, $step) = @ARGV;
print "$model #$index, step $step\n";
