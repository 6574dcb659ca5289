#!/usr/bin/perl
# normalised edit distance of every pair of languages and concepts
use strict; use warnings; use List::Util qw(min max);
my %w;
while (<>) { next if /^#/; chomp; my ($lang, $concept, $form) = split /\t/; $w{$concept}{$lang} = $form }
sub lev {
    my ($s, $t) = @_;
    my @d = (0 .. length $t);
    for my $i (1 .. length $s) {
        my @e = ($i);
        for my $j (1 .. length $t) {
            my $c = substr($s, $i-1, 1) eq substr($t, $j-1, 1) ? 0 : 1;
            push @e, min($d[$j] + 1, $e[$j-1] + 1, $d[$j-1] + $c);
        }
        @d = @e;
    }
    return $d[-1];
}
for my $c (sort keys %w) {
    my @l = sort keys %{ $w{$c} };
    for my $i (0 .. $#l) { for my $j ($i + 1 .. $#l) {
        my ($a, $b) = @{ $w{$c} }{ @l[$i, $j] };
        my $d = lev($a, $b) / max(length $a, length $b);
        print "$l[$i]\t$l[$j]\t$c\t", sprintf('%.2f', $d), "\n" if $d <= 0.5;
    } }
}
