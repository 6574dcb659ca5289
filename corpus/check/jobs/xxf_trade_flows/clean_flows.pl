#!/usr/bin/perl
use strict;
use warnings;

# drop re-exports and the aggregates (WLD, EUU)
my %skip = map { $_ => 1 } qw(WLD EUU OAS);
my $head = <>;
print $head;
while (my $line = <>) {
    $line =~ s/\s+$//;
    my ($o, $d, $v, $flag) = split /,/, $line;
    next if $skip{$o} or $skip{$d};
    next if defined $flag and $flag eq 'R';
    next unless $v =~ /^[0-9.]+$/;
    print join(',', $o, $d, $v), "\n";
}
