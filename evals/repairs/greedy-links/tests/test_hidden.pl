use strict;
use warnings;
use lib $ENV{PYTHONPATH};
use Test::More;
use Links;

sub found { [Links::find_links($_[0])] }

is_deeply(found("[one](a.html)"), [["one", "a.html"]], "a link");
is_deeply(found("See [one](a.html) and [two](b.html)."), [["one", "a.html"], ["two", "b.html"]], "two in a line");
is_deeply(found("![logo](logo.png) [home](/)"), [["home", "/"]], "a picture is none");
is_deeply(found("a [long\ntext](x.html)\n[b](c)"), [["long\ntext", "x.html"], ["b", "c"]], "over two lines");
is_deeply(found("[this] is (no) link, [that](is)"), [["that", "is"]], "brackets alone");
is_deeply(found("Nothing here."), [], "none");
is_deeply(found("really![a](b) and ! [c](d)"), [["c", "d"]], "the mark must stand before the bracket");
my $said = `$^X links.pl $ENV{TESTS_DIR}/page.md`;
is($said, "one -> a.html\ntwo -> b.html\n", "the program");
done_testing();
