use strict;
use warnings;
use Test::More;

my $path = "$ENV{LOGS_DIR}/some.ini";

sub changed {
    my ($before, $key, $value) = @_;
    open my $out, '>:raw', $path or die;
    print $out $before;
    close $out;
    my $said = do { open my $run, '-|', "sh", "-c", 'exec 2>&1; exec "$@"', "sh", $^X, "set_value.pl", $path, $key, $value or die; local $/; <$run> };
    diag($said) if defined $said && length $said;
    return "it says something" if defined $said && length $said;
    open my $in, '<:raw', $path or die;
    local $/;
    my $after = <$in>;
    return defined $after ? $after : "";
}

is(changed("a = 1\nb = 2\n", "b", "3"), "a = 1\nb = 3\n", "a value");
is(changed("a = 1\nb=2\n", "c", "3"), "a = 1\nb=2\nc = 3\n", "added");
is(changed("a = 1\r\nb = 2\r\nc = 5\r\n", "b", "3"), "a = 1\r\nb = 3\r\nc = 5\r\n", "CRLF stays");
is(changed("a = 1\r\nb = 2\r\n", "c", "3"), "a = 1\r\nb = 2\r\nc = 3\r\n", "CRLF for what is added");
is(changed("a = 1\r\nb = 2\n", "b", "3"), "a = 1\r\nb = 3\n", "mixed ends");
is(changed("a = 1  \n\t\n; b = 2 \nb = 4\n", "b", "3"), "a = 1  \n\t\n; b = 2 \nb = 3\n", "blanks and comments stay");
is(changed("a = 1\nb = 2", "a", "3"), "a = 3\nb = 2", "no end of the last line");
is(changed("a = 1\nb = 2", "b", "3"), "a = 1\nb = 3", "no end of the changed line");
is(changed("a = 1\nb = 2", "c", "3"), "a = 1\nb = 2\nc = 3\n", "an end where a line is added");
is(changed("", "c", "3"), "c = 3\n", "an empty file");
is(changed("a = 1\nname = M\xfcller\n", "a", "2"), "a = 2\nname = M\xfcller\n", "Latin-1");
is(changed("a = 1\n\x00\xff\xfe = x\n", "a", "gr\xc3\xbcn"), "a = gr\xc3\xbcn\n\x00\xff\xfe = x\n", "any bytes");
is(changed("axb = 1\na.b = 2\n", "a.b", "3"), "axb = 1\na.b = 3\n", "a dot");
is(changed("axb = 1\n", "a.b", "3"), "axb = 1\na.b = 3\n", "a dot that is not there");
is(changed("c++ = 1\n", "c++", "3"), "c++ = 3\n", "plus signs");
is(changed("  width=5\nline width = 2\n", "width", "3"), "  width = 3\nline width = 2\n", "blanks before the key");
is(changed("a = 1\nb = 1\na = 2\n", "a", "3"), "a = 1\nb = 1\na = 3\n", "the last of two");
is(changed("a = 1\n", "a", "x = \\1 \$& \@y"), "a = x = \\1 \$& \@y\n", "odd values");
done_testing();
