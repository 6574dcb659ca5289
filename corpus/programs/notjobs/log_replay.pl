#!/usr/bin/perl
use strict;
use warnings;

# who talked most in the channel
open my $in, '<', $ARGV[0] // 'channel.log' or die "$!";
my (%lines, %words);
while (my $line = <$in>) {
    my ($nick, $text) = $line =~ /^\d+ <(\w+)> (.*)/ or next;
    $lines{$nick}++;
    $words{$_}++ for map { lc } $text =~ /(\w{4,})/g;
}
print "$_ $lines{$_}\n" for (sort { $lines{$b} <=> $lines{$a} } keys %lines)[ 0 .. 4 ];
