#!/bin/bash
set -e
cat > words.py <<'EOF'
"""Lists of words as our search engine needs them."""

from collections import Counter


def unique(words):
    """Return each word once, in the order in which they first come."""
    return list(dict.fromkeys(words))


def count(words):
    """Return pairs of word and number, in the order in which the words first come."""
    return list(Counter(words).items())


def common(first, second):
    """Return the words of the first that are in the second as well, each once, in the order of the first."""
    second = set(second)
    return [word for word in unique(first) if word in second]


def remove_first(words, unwanted):
    """Return the words without the first place of each unwanted one: two of it in unwanted take away two places."""
    open_ones, left = Counter(unwanted), []
    for word in words:
        if open_ones[word] > 0:
            open_ones[word] -= 1
        else:
            left.append(word)
    return left
EOF
