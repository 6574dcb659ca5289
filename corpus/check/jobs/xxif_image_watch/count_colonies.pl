#!/usr/bin/perl
# counts connected bright spots of an ASCII PGM
use strict;
use warnings;

my $file = shift or die "usage: count_colonies.pl FILE\n";
open my $fh, '<', $file or die "$file: $!\n";
my @tok = grep { length } map { split ' ' } grep { !/^#/ } <$fh>;
close $fh;
die "$file: not P2\n" unless shift(@tok) eq 'P2';
my ($w, $h, $max) = splice @tok, 0, 3;
my @seen = (0) x ($w * $h);
my $n = 0;
for my $start (0 .. $w * $h - 1) {
    next if $seen[$start] || $tok[$start] < $max / 2;
    $n++;
    my @stack = ($start);
    while (@stack) {
        my $p = pop @stack;
        next if $seen[$p] || $tok[$p] < $max / 2;
        $seen[$p] = 1;
        my $x = $p % $w;
        push @stack, $p - 1  if $x > 0;
        push @stack, $p + 1  if $x < $w - 1;
        push @stack, $p - $w if $p >= $w;
        push @stack, $p + $w if $p < $w * ($h - 1);
    }
}
print "$file\t$n\n";
