#!/usr/bin/perl
# Running balances of many accounts; the transactions are made up.
use strict;
use warnings;

my ($accounts, $transactions) = @ARGV;
srand(5);
my @balance = (0) x $accounts;
my @worst = (0) x $accounts;
for my $t (1 .. $transactions) {
    my $who = int(rand($accounts));
    $balance[$who] += int(rand(200)) - 99;
    $worst[$who] = $balance[$who] if $balance[$who] < $worst[$who];
}
my $red = grep { $_ < 0 } @balance;
my ($least) = sort { $a <=> $b } @worst;
print "$red of $accounts accounts overdrawn, worst ever $least\n";
