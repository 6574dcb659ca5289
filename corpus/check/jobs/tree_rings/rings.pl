use strict;
use warnings;
my $total = 0;
foreach my $width (@ARGV) {
    $total += $width
    print "$width\n";
}
print "sum $total\n";
