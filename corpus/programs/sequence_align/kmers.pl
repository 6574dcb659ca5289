use strict;
use warnings;

# Most frequent k-mers of a genome (FASTA).
my ($file, $k) = @ARGV;
open(my $in, '<', $file) or die "cannot open $file: $!";
my %count;
my $rest = '';
while (my $line = <$in>) {
    next if $line =~ /^>/;
    chomp $line;
    my $text = $rest . $line;
    for my $i (0 .. length($text) - $k) {
        $count{substr($text, $i, $k)}++;
    }
    $rest = substr($text, -($k - 1));
}
close $in;
my @top = (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 9];
print "$_ $count{$_}\n" for @top;
