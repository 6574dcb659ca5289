package My::Cleave;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(cleave);

sub cleave { return split /(?<=[KR])(?!P)/, shift }

1;
