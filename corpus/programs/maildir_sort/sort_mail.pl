#!/usr/bin/perl -w
# sorts made-up mail by rules, like procmail would
use strict;

my $rounds = shift || 1;
my @rules = (
    [ qr/^Subject:.*\b(?:invoice|bill|receipt)\b/im => 'money' ],
    [ qr/^List-Id:.*<([\w.-]+)>/im                  => 'lists' ],
    [ qr/^From:.*@(?:[\w-]+\.)*example\.(?:com|net)>?\s*$/im => 'work' ],
    [ qr/(?:v[i1]agra|l[o0]ttery|w[i1]nner).{0,40}(?:now|today)/is => 'spam' ],
);
my %folder;
my $seed = 1;
for my $round (1 .. $rounds) {
    for my $n (1 .. 200) {
        $seed = ($seed * 69069 + 1) % 4294967296;
        my $mail = "From: p$n\@mx" . $seed % 9 . ".example." . ('com', 'org', 'net')[ $seed % 3 ] . "\n"
            . "Subject: " . ('hello', 'your invoice', 'notes', 'WINNER')[ ($seed >> 8) % 4 ] . " $n\n"
            . ($n % 5 ? '' : "List-Id: talk <talk.example.org>\n")
            . "\n" . join("\n", map { "l0tt line $_ of the body $seed" } 1 .. 60) . "\n";
        my $where = 'inbox';
        for my $rule (@rules) {
            if ($mail =~ $rule->[0]) { $where = $rule->[1]; last }
        }
        $folder{$where}++;
    }
}
print "$_ $folder{$_}\n" for sort keys %folder;
