#!/usr/bin/perl
# Adsorption isotherms by linear regression of the transformed data
use strict;
use warnings;
use Getopt::Long;

my $model = 'langmuir';
GetOptions('model=s' => \$model) or exit 2;
my $file = shift @ARGV // die "no data file\n";

my (@x, @y);
open my $fh, '<', $file or die "cannot open $file: $!\n";
<$fh>;
while (<$fh>) {
    chomp;
    my ($c, $q) = split /,/;
    if ($model eq 'langmuir')      { push @x, $c;      push @y, $c / $q }
    elsif ($model eq 'freundlich') { push @x, log($c); push @y, log($q) }
    else                           { die "unknown model $model\n" }
}
close $fh;

my $n = @x;
my ($sx, $sy, $sxx, $sxy) = (0) x 4;
for my $i (0 .. $#x) {
    $sx += $x[$i]; $sy += $y[$i];
    $sxx += $x[$i]**2; $sxy += $x[$i] * $y[$i];
}
my $b = ($n * $sxy - $sx * $sy) / ($n * $sxx - $sx**2);
my $a = ($sy - $b * $sx) / $n;
if ($model eq 'langmuir') { printf "qmax %.4f  K %.5f\n", 1 / $b, $b / $a }
else                      { printf "KF %.4f  1/n %.4f\n", exp($a), $b }
