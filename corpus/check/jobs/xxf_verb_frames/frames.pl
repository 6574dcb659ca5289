#!/usr/bin/perl
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

my (@sent);

sub flush_sentence {
    for my $v (grep { $_->{pos} eq 'VERB' } @sent) {
        my @args = sort map { $_->{rel} } grep { $_->{head} == $v->{id} } @sent;
        print join(' ', $v->{lemma}, @args), "\n";
    }
    @sent = ();
}

while (my $l = <>) {
    chomp $l;
    if ($l eq '') { flush_sentence(); next }
    next if $l =~ /^#/;
    my ($id, $form, $lemma, $pos, $head, $rel) = split /\t/, $l;
    push @sent, { id => $id, lemma => $lemma, pos => $pos, head => $head, rel => $rel };
}
flush_sentence() if @sent;
