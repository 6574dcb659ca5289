#!/usr/bin/perl
use strict; use warnings;
my ($file, $k) = @ARGV;
open(my $fh, '<', $file) or die "$file: $!\n";
my @v = map { chomp; $_ } <$fh>;
close $fh;
my @a = sort { $a <=> $b } map { abs } @v;
my $sd = $a[ @a / 2 ] / 0.6745;
for my $i (1 .. $#v - 1) {
    print "$i $v[$i]\n" if $v[$i] < -$k * $sd && $v[$i] <= $v[$i-1] && $v[$i] < $v[$i+1];
}
