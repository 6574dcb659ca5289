#!/usr/bin/perl
# Gauss-Seidel on a chain of springs, 1000 sweeps per call
use strict; use warnings;
my $file = shift;
open(my $in, '<', $file) or die "$file: $!";
my (@x);
while (<$in>) { push @x, $1 if /^x\s+(\S+)/ }
close $in;
my $res = 0;
for my $sweep (1 .. 1000) {
    $res = 0;
    for my $i (1 .. $#x - 1) {
        my $new = 0.5 * ($x[$i-1] + $x[$i+1]);
        my $d = abs($new - $x[$i]);
        $res = $d if $d > $res;
        $x[$i] = $new;
    }
    last if $res < 1e-9;
}
open(my $out, '>', "$file.new") or die $!;
print $out "converged ", ($res < 1e-9 ? 1 : 0), "\n";
print $out "x $_\n" for @x;
close $out or die $!;
rename "$file.new", $file or die $!;
