#!/bin/bash
set -e
cat > Links.pm <<'EOF'
package Links;
use strict;
use warnings;

# Returns the links of a text in Markdown, [words](address), in their order: pairs of words and address.
# What begins with an exclamation mark is a picture and no link.
sub find_links {
    my ($text) = @_;
    my @found;
    while ($text =~ /(?<!!)\[([^\[\]]*)\]\(([^()]*)\)/g) {
        push @found, [$1, $2];
    }
    return @found;
}

1;
EOF
