#!/usr/bin/env perl
# best catalogue entry for one title, by common trigrams
use strict;
use warnings;

my ($title, $file) = @ARGV;

sub grams {
    my $s = lc shift;
    $s =~ s/[^a-z]+/ /g;
    my %g;
    $g{ substr $s, $_, 3 }++ for 0 .. length($s) - 3;
    return \%g;
}

my $t = grams($title);
my ($best, $score) = ('-', 0);
open my $fh, '<', $file or die "$file: $!\n";
while (my $line = <$fh>) {
    chomp $line;
    my $c = grams($line);
    my $common = grep { exists $c->{$_} } keys %$t;
    my $s = 2 * $common / ((keys %$t) + (keys %$c) || 1);
    ($best, $score) = ($line, $s) if $s > $score;
}
printf "%s\t%s\t%.2f\n", $title, $best, $score;

__END__

=head1 NOTES

Don't feed it an "empty title: the score is 0 then. Unbalanced ( is fine here.
