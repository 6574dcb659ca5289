use strict;
use warnings;
use IO::Socket::INET;

my ($base, $most) = @ARGV;
my ($host, $port) = $base =~ m{^http://([^:/]+):(\d+)} or die "usage: crawl.pl URL COUNT\n";

sub fetch {
    my ($path) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Timeout => 10) or die "connect: $!";
    print $socket "GET $path HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n\r\n";
    local $/;
    my $reply = <$socket>;
    return (split /\r\n\r\n/, $reply, 2)[1];
}

my @queue = ('/page/2');
my (%seen, $pages);
while (defined(my $path = shift @queue)) {
    next if $seen{$path}++;
    my $text = fetch($path);
    push @queue, $text =~ /href="([^"]+)"/g;
    last if ++$pages >= $most;
}
print "$pages pages\n";
