use strict;
use warnings;

# A pretend print queue: pages come out at a fixed speed.
my ($dir, $jobs) = @ARGV;
for my $n (1 .. $jobs) {
    open my $fh, '>', "$dir/job$n" or die $!;
    print $fh "page $_ of job $n\n" for 1 .. 1 + $n % 4;
    close $fh;
}

sub pages {
    my ($path) = @_;
    open my $fh, '<', $path or return 0;
    my $n = 0;
    $n++ while <$fh>;
    return $n;
}

my $printed = 0;
while (my @files = glob "$dir/job*") {
    for my $file (sort @files) {
        my $n = pages($file);
        select undef, undef, undef, 0.12 * $n;
        $printed += $n;
        unlink $file;
    }
}
print "$printed pages\n";
