use strict;
use warnings;
use IO::Handle;

# Every sample gets its own status file, which must survive a power cut.
my $samples = shift;
mkdir 'status';
for my $s (1 .. $samples) {
    my $name = sprintf 'status/%05d', $s;
    open my $fh, '>', "$name.tmp" or die $!;
    printf $fh "sample %d\nstate %s\n", $s, $s % 9 ? 'ok' : 'repeat';
    $fh->flush;
    $fh->sync;
    close $fh;
    rename "$name.tmp", $name or die $!;
}
my @all = glob 'status/*';
print scalar(@all), " files\n";
