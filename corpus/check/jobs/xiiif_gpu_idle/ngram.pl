#!/usr/bin/perl
use strict;
use warnings;
use Getopt::Std;

my %opt = (n => 2);
getopts('n:', \%opt);

my @win;
while (<>) {
    for my $w (map { lc } /\p{L}+/g) {
        push @win, $w;
        shift @win if @win > $opt{n};
        print "@win\n" if @win == $opt{n};
    }
}
