#!/usr/bin/perl
use strict; use warnings;
my %name;
while (<DATA>) { chomp; my ($u, $n) = split /=/; $name{$u} = $n; }
my (%h, $tot);
while (my $l = <STDIN>) {
    chomp $l;
    my ($id, $user, $sec) = split /\|/, $l;
    $h{$user} += $sec; $tot += $sec;
}
printf "%-10s %6d\n", $name{$_} // $_, $h{$_} for sort { $h{$b} <=> $h{$a} } keys %h;
printf "Total %d\n", $tot;
__DATA__
u1=Ada
u2=Grace
