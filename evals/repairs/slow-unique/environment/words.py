"""Lists of words as our search engine needs them."""


def unique(words):
    """Return each word once, in the order in which they first come."""
    found = []
    for word in words:
        if word not in found:
            found.append(word)
    return found


def count(words):
    """Return pairs of word and number, in the order in which the words first come."""
    words = list(words)
    return [(word, words.count(word)) for word in unique(words)]


def common(first, second):
    """Return the words of the first that are in the second as well, each once, in the order of the first."""
    second = list(second)
    return [word for word in unique(first) if word in second]


def remove_first(words, unwanted):
    """Return the words without the first place of each unwanted one: two of it in unwanted take away two places."""
    left = list(words)
    for word in unwanted:
        if word in left:
            left.remove(word)
    return left
