#!/usr/bin/perl
use strict;
use warnings;
my ($file, $motif) = @ARGV;
open(my $fh, '<', $file) or die "cannot open $file: $!\n";
my $id = '';
while (<$fh>) {
    chomp;
    if (/^>(\S+)/) { $id = $1; next }
    while (/$motif/g) { print "$id ", pos() - length($motif) + 1, "\n" }
}
