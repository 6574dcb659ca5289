#!/usr/bin/perl
use strict; use warnings;
my $op = shift;
s/,$// for @ARGV;                       # the list comes with commas
my @l = <>;
chomp @l;
if ($op eq 'collate') {
    my @w = map { [split] } @l;
    for my $i (1 .. $#{ $w[0] }) { print join(' ', $i, map { $_->[$i] // '-' } @w), "\n" }
} elsif ($op eq 'agree' or $op eq 'differ') {
    for (@l) {
        my ($i, @r) = split;
        my %s = map { $_ => 1 } @r;
        print "$_\n" if (keys %s == 1) == ($op eq 'agree');
    }
} elsif ($op eq 'join') {
    print "$_\n" for sort { (split ' ', $a)[0] <=> (split ' ', $b)[0] } @l;
} else { die "unknown op $op\n" }
