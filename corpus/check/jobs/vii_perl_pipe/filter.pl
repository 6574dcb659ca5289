#!/usr/bin/env perl
use strict; use warnings;
use Getopt::Long qw(GetOptions);
use List::Util qw(first sum0);
GetOptions('min=f' => \(my $min = 0)) or die "usage: $0 [--min N]\n";
my (%h, @order);
LINE: while (<>) {
    chomp;
    next LINE unless /\S/;
    my ($k, $v) = split /\t/, $_, 2;
    push @order, $k unless exists $h{$k};
    push @{ $h{$k} }, $v;
}
for my $k (grep { sum0(@{ $h{$_} }) >= $min } @order) {
    printf "%s\t%s\n", $k, join ',', map { sprintf '%.1f', $_ } @{ $h{$k} };
}
print STDERR <<"END" if !%h;
nothing read
END
__END__
if (this is not perl {
