#!/usr/bin/perl
use strict;
use warnings;

my ($file, $rounds) = @ARGV;
my %total;
for my $round (1 .. $rounds) {
    open my $fh, '<', $file or die "$file: $!";
    my (%last, %count);
    while (<$fh>) {
        next unless /^(\S+) .*\[(\d+)\] "\w+ ([^ ?]+)\S* [^"]*" (\d+) (\d+)/;
        my ($ip, $t, $path, $status, $size) = ($1, $2, $3, $4, $5);
        next if $status >= 500;
        $count{$ip}++ if !defined $last{$ip} or $t - $last{$ip} > 60 * $round;
        $last{$ip} = $t;
        my @parts = split m{/}, $path;
        $total{ join '/', @parts[0 .. 2] } += $size;
    }
    close $fh;
    my ($top) = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
    printf "%d min: %s %d sessions\n", $round, $top, $count{$top};
}
my @top = sort { $total{$b} <=> $total{$a} } keys %total;
printf "%s %d\n", $_, $total{$_} for @top[0 .. 4];
