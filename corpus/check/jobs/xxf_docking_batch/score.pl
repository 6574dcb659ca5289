#!/usr/bin/perl
use strict;
use warnings;

sub atoms {
    my ($f) = @_;
    open my $fh, '<', $f or die "$f: $!";
    my @a;
    while (<$fh>) {
        next unless /^ATOM/;
        my @c = split;
        push @a, [@c[2, 3, 4]];
    }
    return @a;
}

my @r = atoms($ARGV[0]);
my @l = atoms($ARGV[1]);
my $e = 0;
for my $p (@r) {
    for my $q (@l) {
        my $d2 = 0;
        $d2 += ($p->[$_] - $q->[$_])**2 for 0 .. 2;
        my $s = (3.5**2 / ($d2 + 0.01))**3;
        $e += 0.1 * ($s * $s - 2 * $s);
    }
}
printf "score %.3f\n", $e;
