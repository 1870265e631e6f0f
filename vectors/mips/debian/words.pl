# Sorting, hashes, and regular expressions, on text made by a generator of pseudo-random numbers.
use strict;
use warnings;

my $state = 12345;
sub random { $state = ($state * 1103515245 + 12345) % 2147483648; return int($state / 65536) % $_[0]; }

my @syllables = qw(ka to mi ra ne su lo ve di pa);
my @words = map { join '', map { $syllables[random(10)] } 1 .. 2 + random(3) } 1 .. 60000;
my %count;
$count{$_}++ for @words;
my @common = sort { $count{$b} <=> $count{$a} or $a cmp $b } keys %count;
printf "%s %d\n", $_, $count{$_} for @common[0 .. 9];

my $text = join ' ', @words;
my $doubled = () = $text =~ /\b(\w\w)\1/g;
my $vowels = ($text =~ tr/aeiou//);
(my $changed = $text) =~ s/\b(\w)(\w*)\b/\u$1$2/g;
my %ends;
$ends{$1}++ while $changed =~ /[A-Z]\w*?(\w{2})\b/g;
print "doubled $doubled, vowels $vowels, ends ", join(' ', map { "$_=$ends{$_}" } sort keys %ends), "\n";

my @numbers = map { random(32768) * 32768 + random(32768) } 1 .. 60000;
my @sorted = sort { $a <=> $b } @numbers;
my $sum = 0;
$sum = ($sum * 31 + $sorted[$_] % 1000) % 1000003 for 0 .. $#sorted;
printf "sorted %d .. %d, check %d, mean %.6f\n", $sorted[0], $sorted[-1], $sum, eval { my $t = 0; $t += $_ for @numbers; $t / @numbers };

my %tree;
push @{ $tree{ substr $_, 0, 2 }{ length $_ } }, $_ for @common;
for my $start (sort keys %tree) {
    print "$start: ", join(', ', map { "$_ letters: " . scalar @{ $tree{$start}{$_} } } sort { $a <=> $b } keys %{ $tree{$start} }), "\n";
}
