#!/usr/bin/perl
# self-avoiding walks on the cubic lattice; mean squared end-to-end distance
use strict;
use warnings;

my ($seed, $tries) = @ARGV;
srand(1000 + $seed);
my @dir = ([1,0,0],[-1,0,0],[0,1,0],[0,-1,0],[0,0,1],[0,0,-1]);
my $len = 20;
my ($ok, $r2) = (0, 0);
TRY: for (1 .. $tries) {
    my @p = (0, 0, 0);
    my %seen = ("0,0,0" => 1);
    for (1 .. $len) {
        my $d = $dir[int rand 6];
        $p[$_] += $d->[$_] for 0 .. 2;
        next TRY if $seen{ join ',', @p }++;
    }
    $ok++;
    $r2 += $p[0]**2 + $p[1]**2 + $p[2]**2;
}
printf "%d %d %.4f\n", $seed, $ok, $ok ? $r2 / $ok : 0;
