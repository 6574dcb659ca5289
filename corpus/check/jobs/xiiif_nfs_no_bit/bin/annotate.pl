#!/usr/bin/env perl
use strict;
use warnings;
use Getopt::Long;

my ($gff, $window) = ('', 0);
GetOptions('genes=s' => \$gff, 'window=i' => \$window) or exit 2;

my %genes;
open my $g, '<', $gff or die "$gff: $!\n";
while (<$g>) {
    next if /^#/;
    chomp;
    my @f = split /\t/;
    next unless $f[2] eq 'gene';
    my ($id) = $f[8] =~ /ID=([^;]+)/;
    push @{ $genes{ $f[0] } }, [ $f[3], $f[4], $id ];
}
close $g;

while (<>) {
    chomp;
    my ($chr, $pos, $alleles) = split /\t/;
    my @near = map { $_->[2] }
        grep { $pos >= $_->[0] - $window && $pos <= $_->[1] + $window }
        @{ $genes{$chr} || [] };
    print join("\t", $chr, $pos, $alleles, @near ? join(',', @near) : '.'), "\n";
}
