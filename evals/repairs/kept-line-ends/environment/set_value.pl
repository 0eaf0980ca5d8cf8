#!/usr/bin/perl
# set_value.pl FILE KEY VALUE: sets a value in a file of lines "key = value" and leaves all else as it is.
# A key that is not there is added as the last line. Lines that begin with ; are comments.
use strict;
use warnings;

my ($path, $key, $value) = @ARGV;
open my $in, '<:encoding(UTF-8)', $path or die "$path: $!\n";
my @lines = <$in>;
close $in;
s/\s+$// for @lines;

my $done = 0;
for my $line (@lines) {
    if ($line =~ /^$key\s*=/) {
        $line = "$key = $value";
        $done = 1;
    }
}
push @lines, "$key = $value" unless $done;

open my $out, '>:encoding(UTF-8)', $path or die "$path: $!\n";
print $out "$_\n" for @lines;
close $out;
