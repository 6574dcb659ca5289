#!/usr/bin/env perl
use strict;
use warnings;

sub atoms {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!\n";
    <$fh>; <$fh>;
    my @a;
    while (<$fh>) { my ($el, @xyz) = split; push @a, \@xyz if @xyz == 3; }
    return @a;
}

my ($rec, $lig) = @ARGV;
my @r = atoms($rec);
my @l = atoms($lig);
my $e = 0;
for my $a (@r) {
    for my $b (@l) {
        my $d2 = 0;
        $d2 += ($a->[$_] - $b->[$_])**2 for 0 .. 2;
        $d2 = 1 if $d2 < 1;
        my $s6 = (12.25 / $d2)**3;
        $e += 0.2 * ($s6**2 - 2 * $s6);
    }
}
printf "%s\t%.4f\n", $lig, $e;
