use strict;
use warnings;
my %n;
while (my $line = <STDIN>) {
    chomp $line;
    if ($line =~ /^>(\S+)/) {
        $n{$1}++;
}
print "$_\t$n{$_}\n" for sort keys %n;
