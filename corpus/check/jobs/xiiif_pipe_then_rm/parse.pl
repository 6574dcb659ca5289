#!/usr/bin/env perl
# "hh:mm:ss az el" with comments; anything else is fatal
use strict;
use warnings;

print join("\t", qw(night seconds az el)), "\n";
for my $file (@ARGV) {
    my ($night) = $file =~ /(night\d+)/;
    open my $fh, '<', $file or die "$file: $!\n";
    while (<$fh>) {
        next if /^\s*(#|$)/;
        m{^(\d\d):(\d\d):(\d\d)\s+([-\d.]+)\s+([-\d.]+)\s*$}
            or die "$file line $.: cannot parse\n";
        printf "%s\t%d\t%.3f\t%.3f\n", $night, $1 * 3600 + $2 * 60 + $3, $4, $5;
    }
    close $fh;
}
