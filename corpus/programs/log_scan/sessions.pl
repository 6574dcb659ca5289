#!/usr/bin/env perl
use strict;
use warnings;
my (%last, %hits, $sessions);
while (<>) {
    next unless /^(\S+) .*:(\d+):(\d+):00\] "GET (\S+)/;
    my ($ip, $minute, $page) = ($1, $2 * 60 + $3, $4);
    $sessions++ if !defined $last{$ip} || abs($minute - $last{$ip}) > 30;
    $last{$ip} = $minute;
    $hits{$page}{$ip}++;
}
print "$sessions sessions\n";
for my $page (sort { keys %{$hits{$b}} <=> keys %{$hits{$a}} } keys %hits) {
    printf "%-20s %d visitors\n", $page, scalar keys %{$hits{$page}};
    last if $page eq '/pay';
}
