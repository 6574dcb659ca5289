#!/usr/bin/perl
# Several writers share a counter file under a lock; each holds it for a while.
use strict;
use warnings;
use Fcntl qw(:flock SEEK_SET);
use Time::HiRes qw(sleep);

my ($writers, $turns) = @ARGV;
my $file = 'counter';
open my $new, '>', $file or die $!;
print $new "0\n";
close $new;
my @children;
for my $w (1 .. $writers) {
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        for (1 .. $turns) {
            open my $fh, '+<', $file or die $!;
            flock $fh, LOCK_EX;
            my $n = <$fh>;
            sleep 0.1;    # stands for the work that needs the lock
            seek $fh, 0, SEEK_SET;
            print $fh $n + 1, "\n";
            close $fh;
        }
        exit 0;
    }
    push @children, $pid;
}
waitpid $_, 0 for @children;
open my $fh, '<', $file or die $!;
print "counter: ", scalar <$fh>;
