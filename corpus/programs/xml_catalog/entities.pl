my ($file, $times) = @ARGV;
open my $in, '<', $file or die; local $/; my $text = <$in>;
my %names;
for my $time (1 .. $times) {
    while ($text =~ m{<book id="(\w+)" lang="(\w\w)"><title>(.*?)</title>.*?<price currency='(\w+)'>([\d.]+)</price>((?:<author>.*?</author>)+)}gs) {
        my ($id, $lang, $title, $sum, $authors) = ($1, $2, $3, $5 * $time, $6);
        $title =~ s/&(amp|lt|gt);/{amp => '&', lt => '<', gt => '>'}->{$1}/ge;
        $names{"$lang:$_"} += $sum for $authors =~ m{<author>(.*?)</author>}g;
        $names{ lc $title }++;
    }
}
print scalar(keys %names), "\n";
