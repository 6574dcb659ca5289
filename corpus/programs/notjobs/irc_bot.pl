#!/usr/bin/perl
use strict;
use warnings;
use IO::Socket::INET;

my $irc = IO::Socket::INET->new(PeerAddr => 'irc.example.org:6667') or die "no connection: $!";
print $irc "NICK logbot\r\nUSER logbot 0 * :logbot\r\nJOIN #cluster\r\n";
open my $log, '>>', 'channel.log' or die;
while (my $line = <$irc>) {
    if ($line =~ /^PING (.*)/) {
        print $irc "PONG $1\r\n";
    } elsif ($line =~ /^:(\w+)!\S+ PRIVMSG #cluster :(.*)/) {
        printf $log "%d <%s> %s\n", time, $1, $2;
        print $irc "PRIVMSG #cluster :pong\r\n" if $2 =~ /^!ping/;
    }
}
