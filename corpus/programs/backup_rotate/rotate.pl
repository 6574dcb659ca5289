#!/usr/bin/perl
# grandfather-father-son rotation of database dumps
use strict;
use warnings;
use File::Copy qw(copy);
use IO::Handle;

my ($days, $mib) = @ARGV;
for my $day (1 .. $days) {
    open my $dump, '>:raw', 'dump.sql' or die $!;
    my $line = "insert into t values ($day, '" . 'x' x 1000 . "');\n";
    print $dump $line x 1000 for 1 .. $mib;
    $dump->flush;
    $dump->sync;
    close $dump;
    my $kind = $day % 28 == 0 ? 'month' : $day % 7 == 0 ? 'week' . $day / 7 : 'day' . $day % 7;
    rename 'dump.sql', "dump.$kind" or die "rename: $!";
}
print join(' ', glob 'dump.*'), "\n";
