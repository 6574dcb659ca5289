#!/usr/bin/env perl
use strict;
use warnings;
use Getopt::Long;

my ($word, $width) = ('', 30);
GetOptions('word=s' => \$word, 'width=i' => \$width)
    or die "bad options\n";
die "no word given\n" unless length $word;

my @lines;
for my $file (@ARGV) {
    open my $fh, '<', $file or die "$file: $!\n";
    my $text = join ' ', map { s/\s+/ /gr } <$fh>
    close $fh;
    while ($text =~ /\b\Q$word\E\b/gi) {
        my ($s, $e) = ($-[0], $+[0]);
        my $from = $s > $width ? $s - $width : 0;
        my $left = substr $text, $from, $s - $from;
        my $right = substr $text, $e, $width;
        push @lines, sprintf "%*s [%s] %-*s  %s",
            $width, $left, substr($text, $s, $e - $s), $width, $right, $file;
    }
}
print "$_\n" for sort { lc $a cmp lc $b } @lines;
