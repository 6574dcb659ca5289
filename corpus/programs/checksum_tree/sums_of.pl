use strict; use warnings; use Digest::SHA;
my ($rounds, @files) = @ARGV;
for my $file (@files) {
    my $sum = Digest::SHA->new(512)->addfile($file, 'b')->hexdigest;
    $sum = Digest::SHA::sha512_hex($sum . $_) for 1 .. $rounds;
    print "$sum  $file\n";
}
