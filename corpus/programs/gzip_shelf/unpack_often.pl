#!/usr/bin/perl
# Keeps a shelf of compressed pages; takes pages out, edits and puts them back.
use strict;
use warnings;
use Compress::Zlib;

my $rounds = shift // 5;
my @shelf = map { my $n = $_; Compress::Zlib::memGzip(join ' ', map { ($_ * $n) % 9973 } 1 .. 4000) } 1 .. 40;
my $bytes = 0;
for my $round (1 .. $rounds) {
    for my $page (@shelf) {
        my $text = Compress::Zlib::memGunzip($page);
        $text =~ s/\b(\d)(\d+)\b/$2$1/g;
        $page = Compress::Zlib::memGzip($text);
        $bytes += length $page;
    }
}
open my $fh, '>', 'shelf.gz' or die;
binmode $fh;
print $fh @shelf;
close $fh;
print "$bytes bytes packed\n";
