#!/usr/bin/perl
# filters connected by pipes: each child drops the multiples of its prime
use strict;
use warnings;

my $limit = shift // 1000;
my @primes = (2, 3, 5, 7);
pipe(my $in, my $out) or die;
if (fork() == 0) {
    close $in;
    print $out "$_\n" for 2 .. $limit;
    exit;
}
close $out;
for my $p (@primes) {
    pipe(my $next_in, my $next_out) or die;
    if (fork() == 0) {
        close $next_in;
        while (my $n = <$in>) {
            my $digits = 0;
            $digits += $_ ** $p % 10 for split //, $n + 0;
            print $next_out $n if $n == $p or $n % $p;
        }
        exit;
    }
    close $in;
    close $next_out;
    $in = $next_in;
}
my $sum = 0;
while (<$in>) {
    my ($n, $d) = ($_ + 0, 11);
    $d += 2 while $d * $d <= $n and $n % $d;
    $sum += $n if $d * $d > $n;
}
1 while wait() > 0;
print "$sum\n";
