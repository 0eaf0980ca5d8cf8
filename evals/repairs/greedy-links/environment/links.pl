#!/usr/bin/perl
# links.pl FILE: lists the links of a file, one a line.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Links;

local $/;
open my $file, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
print "$_->[0] -> $_->[1]\n" for Links::find_links(<$file>);
