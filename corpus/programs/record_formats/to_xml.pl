#!/usr/bin/perl
use strict;
use warnings;

my ($in, $out) = @ARGV;
open my $from, '<', $in or die;
open my $to, '>', $out or die;
print $to "<records>\n";
my $n = 0;
while (<$from>) {
    my %r;
    while (/"(\w+)": ("[^"]*"|\[[^\]]*\]|[-\d.]+)/g) {
        $r{$1} = $2;
    }
    next unless defined $r{id};
    my @values = grep { length } split /[\[\], ]+/, $r{values} // '';
    my $sum = 0;
    $sum += $_ for @values;
    (my $name = $r{name}) =~ s/"//g;
    $name =~ s/([&<>])/sprintf '&#%d;', ord $1/ge;
    printf $to qq(  <record id="%d" name="%s" mean="%.3f"/>\n), $r{id}, $name, @values ? $sum / @values : 0;
    $n++;
}
print $to "</records>\n";
close $to or die;
print "$n records\n";
