use strict;
use warnings;
my $total = 0;
while (<STDIN>) {
    $toal += length($_);
}
print "$total\n";
