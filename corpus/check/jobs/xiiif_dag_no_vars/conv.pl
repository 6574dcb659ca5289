#!/usr/bin/perl
use strict;
use warnings;
use Getopt::Long;

my ($ra, $out);
GetOptions('ra=f' => \$ra, 'out=s' => \$out) or die "bad options\n";
die "--ra and --out are needed\n" unless defined $ra && defined $out;

my ($x, $y, $z, $dt) = (1, 1, 1, 0.002);
my ($sum, $n) = (0, 0);
for my $i (1 .. 20000) {
    my $dx = 10 * ($y - $x);
    my $dy = $x * ($ra - $z) - $y;
    my $dz = $x * $y - 8 / 3 * $z;
    $x += $dt * $dx;
    $y += $dt * $dy;
    $z += $dt * $dz;
    if ($i > 5000) { $sum += 1 + 2 * $z / $ra; $n++ }
}
open my $fh, '>', $out or die "$out: $!\n";
printf $fh "%g\t%.4f\n", $ra, $sum / $n;
close $fh;
