#!/usr/bin/perl
# Wright-Fisher drift: fixation probability
use strict; use warnings; use Getopt::Long;
my ($n, $p, $s, $reps) = (50, 0.1, 0, 100);
GetOptions('size=i' => \$n, 'freq=f' => \$p, 'sel=f' => \$s, 'reps=i' => \$reps) or exit 2;
srand(11);
my $fix = 0;
for (1 .. $reps) {
    my $k = int($n * $p + 0.5);
    while ($k > 0 && $k < $n) {
        my $q = $k * (1 + $s) / ($k * (1 + $s) + $n - $k);
        my $new = 0;
        $new += rand() < $q ? 1 : 0 for 1 .. $n;
        $k = $new;
    }
    $fix++ if $k == $n;
}
printf "N=%d p=%.2f s=%.3f fixed %.3f\n", $n, $p, $s, $fix / $reps;
