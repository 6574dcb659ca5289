#!/usr/bin/env perl
use strict;
use warnings;
use JSON::PP;

my ($file, $rounds) = @ARGV;
my $json = JSON::PP->new->canonical;
my %by_user;
for (1 .. $rounds) {
    open my $in, '<', $file or die "$file: $!";
    while (my $line = <$in>) {
        my $event = $json->decode($line);
        my $user = $by_user{ $event->{user}{name} } //= { events => 0, steps => {} };
        $user->{events}++;
        $user->{steps}{ $_->{what} }++ for @{ $event->{steps} };
    }
    close $in;
}
open my $out, '>', 'users.json' or die;
print $out $json->pretty->encode(\%by_user);
close $out;
print scalar(keys %by_user), " users\n";
