#!/usr/bin/perl
# Memoizes results in Redis (raw protocol); most of the work is the function itself.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $most) = @ARGV;
my $redis = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die "redis: $!";

sub command {
    my @words = @_;
    print $redis '*' . @words . "\r\n" . join '', map { '$' . length($_) . "\r\n$_\r\n" } @words;
    $redis->flush;
    my $head = <$redis>;
    return undef if $head =~ /^\$-1/;
    return $head =~ /^\$(\d+)/ ? substr(<$redis>, 0, $1) : $head;
}

sub partitions {
    my ($n) = @_;
    my @ways = (1, (0) x $n);
    for my $part (1 .. $n) {
        for my $total ($part .. $n) {
            $ways[$total] = ($ways[$total] + $ways[ $total - $part ]) % 1_000_000_007;
        }
    }
    return $ways[$n];
}

my $saved = command('GET', "p:$most");
if (!defined $saved) {
    for (my $n = $most ; $n > $most - 6 && $n > 0 ; $n--) {
        $saved = partitions($n);
        command('SET', "p:$n", $saved);
    }
}
print "p($most) mod 1e9+7 is near $saved\n";
