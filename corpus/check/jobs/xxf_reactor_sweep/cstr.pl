use strict;
use warnings;

# A -> B -> C in a stirred tank, explicit Euler
my ($T, $c0, $tau) = @ARGV;
my $R = 8.314;
my $k1 = 2.0e7 * exp(-60000 / ($R * $T));
my $k2 = 5.0e6 * exp(-58000 / ($R * $T));
my ($a, $b) = ($c0, 0);
my $dt = 0.01;
for my $i (0 .. 20000) {
    printf "%.2f %.5f %.5f\n", $i * $dt, $a, $b if $i % 500 == 0;
    my $da = ($c0 - $a) / $tau - $k1 * $a;
    my $db = -$b / $tau + $k1 * $a - $k2 * $b;
    $a += $dt * $da;
    $b += $dt * $db;
}
