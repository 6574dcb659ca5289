# STA/LTA picker, after the lab course by Prof. Aoki
# usage: pick.pl TRACE
use strict;
use warnings;

my $file = shift or die "usage: pick.pl TRACE\n";
my ($ns, $nl, $thr) = (3, 10, 4);
open(my $fh, '<', $file) or die "cannot read $file: $!\n";
my @x = map { $_ ** 2 } grep { /\d/ } <$fh>;
close $fh;

for my $i ($nl .. $#x - $ns) {
    my ($s, $l) = (0, 0);
    $s += $x[$_] for $i .. $i + $ns - 1;
    $l += $x[$_] for $i - $nl .. $i - 1;
    if ($l > 0 && ($s / $ns) / ($l / $nl) > $thr) {
        print "$file $i\n";
        exit 0;
    }
}
print "$file none\n";
