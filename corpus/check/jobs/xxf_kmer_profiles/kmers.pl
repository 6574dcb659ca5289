#!/usr/bin/perl
use strict;
use warnings;

my ($file, $k) = @ARGV;
die "usage: kmers.pl FILE K\n" unless defined $k;
open my $fh, '<', $file or die "$file: $!";
my ($seq, %n) = ('');

sub count_kmers {
    for my $i (0 .. length($seq) - $k) {
        my $w = substr $seq, $i, $k;
        next if $w =~ /N/;
        (my $rc = reverse $w) =~ tr/ACGT/TGCA/;
        $n{ $w lt $rc ? $w : $rc }++;
    }
}

while (<$fh>) {
    chomp;
    if (/^>/) { count_kmers(); $seq = ''; next }
    $seq .= uc;
}
count_kmers();
print "$_\t$n{$_}\n" for sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
