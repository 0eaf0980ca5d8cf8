#!/bin/bash
set -e
cat > set_value.pl <<'EOF'
#!/usr/bin/perl
# set_value.pl FILE KEY VALUE: sets a value in a file of lines "key = value" and leaves all else as it is.
# A key that is not there is added as the last line. Lines that begin with ; are comments.
use strict;
use warnings;

my ($path, $key, $value) = @ARGV;
open my $in, '<:raw', $path or die "$path: $!\n";
my @lines = <$in>;
close $in;

my ($place) = grep { $lines[$_] =~ /^[ \t]*\Q$key\E[ \t]*=/ } reverse 0 .. $#lines;
if (defined $place) {
    $lines[$place] =~ /^([ \t]*).*?(\r?\n?)\z/s;
    $lines[$place] = "$1$key = $value$2";
} else {
    my $end = @lines && $lines[0] =~ /\r\n\z/ ? "\r\n" : "\n";
    $lines[-1] .= $end if @lines && $lines[-1] !~ /\n\z/;
    push @lines, "$key = $value$end";
}

open my $out, '>:raw', $path or die "$path: $!\n";
print $out @lines;
close $out or die "$path: $!\n";
EOF
