#!/usr/bin/perl
use strict;
use warnings;
use HTTP::Tiny;
use JSON::PP;

my ($base, $rows) = @ARGV;
my $http = HTTP::Tiny->new(timeout => 10, keep_alive => 1);
my $sent = 0;
for my $n (1 .. $rows) {
    my $body = encode_json({ id => $n, reading => ($n * 7919) % 101, unit => 'C' });
    my $reply = $http->post("$base/readings", { content => $body, headers => { 'Content-Type' => 'application/json' } });
    die "row $n: $reply->{status} $reply->{reason}\n" unless $reply->{success};
    $sent += decode_json($reply->{content})->{received};
}
print "$sent bytes accepted\n";
