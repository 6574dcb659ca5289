#!/usr/bin/env perl
use strict;
use warnings;
use Getopt::Long;

my $dpi;
GetOptions('scale=i' => \$dpi) or exit 2;
die "no scale\n" unless $dpi;
my $mm = 25.4 / $dpi;

my @p;
while (<>) {
    next unless /\S/;
    push @p, [ map { $_ * $mm } split ];
}
my ($area, $len) = (0, 0);
for my $i (0 .. $#p) {
    my ($u, $v) = ($p[$i], $p[ ($i + 1) % @p ]);
    $area += $u->[0] * $v->[1] - $v->[0] * $u->[1];
    $len += sqrt(($u->[0] - $v->[0])**2 + ($u->[1] - $v->[1])**2);
}
$area = abs($area) / 2;
printf "area %.2f mm2  perimeter %.2f mm  roundness %.3f\n", $area, $len, 12.566371 * $area / $len**2;
