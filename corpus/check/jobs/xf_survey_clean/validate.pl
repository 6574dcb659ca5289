#!/usr/bin/perl
use strict;
use warnings;

my $file = shift or die "usage: validate.pl FILE\n";
open my $fh, '<', $file or die "$file: $!\n";
my $head = <$fh>;
my $bad = 0;
while (<$fh>) {
    chomp;
    my @f = split /,/;
    if ($f[2] !~ /^\d+$/ || $f[2] > 120) {
        print "line $.: age '$f[2]'\n";
        $bad++;
    }
}
print "$file: $bad problem(s)\n";
exit($bad ? 1 : 0);
