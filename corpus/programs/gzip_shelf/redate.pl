my $n = shift;
while (<>) { print "$n $_" }
