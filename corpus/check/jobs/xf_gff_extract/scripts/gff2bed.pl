use strict;
use warnings;
use Getopt::Long;

my ($gff, $out);
my $feature = 'exon';
GetOptions(
    'gff=s'     => \$gff,
    'feature=s' => \$feature,
    'out=s'     => \$out,
) or die "usage: $0 --gff FILE --feature NAME --out FILE\n";
die "need --gff and --out\n" unless $gff && $out;

open my $in, '<', $gff or die "$gff: $!";
open my $o,  '>', $out or die "$out: $!";
while (<$in>) {
    next if /^#/;
    chomp;
    my @c = split /\t/;
    next unless $c[2] eq $feature;
    my ($id) = $c[8] =~ /ID=([^;]+)/;
    print $o join("\t", $c[0], $c[3] - 1, $c[4], $id // '.', 0, $c[6]), "\n";
}
close $o;
