#!/usr/bin/perl -w
use strict;
# Best order of a chain of matrix products, for random chains.
my ($n, $chains) = @ARGV;
srand(2);
my $sum = 0;
for (1 .. $chains) {
    my @size = map { 5 + int rand 60 } 0 .. $n;
    my @cost;
    $cost[$_][$_] = 0 for 1 .. $n;
    for my $length (2 .. $n) {
        for my $i (1 .. $n - $length + 1) {
            my $j = $i + $length - 1;
            my $least;
            for my $k ($i .. $j - 1) {
                my $c = $cost[$i][$k] + $cost[$k + 1][$j] + $size[$i - 1] * $size[$k] * $size[$j];
                $least = $c if !defined $least || $c < $least;
            }
            $cost[$i][$j] = $least;
        }
    }
    $sum += $cost[1][$n];
}
print $sum / $chains, "\n";
