"""Which values of an environment, and of what JSON and settings hold, are secrets by the name they have; pure."""

import re
from collections.abc import Iterable, Iterator, Mapping

SHORTEST = 12
"""Characters that a value needs to be looked for in texts: `test`, `none` or `x` are words, and everywhere."""
_SECRET_NAME = re.compile(
    r"(?i)(?:^|_|-|api|access|secret|private|master|app)keys?(?:$|[_-]|\d)|token(?!iz)|secret|passw|passphrase|credential"
    r"|(?:^|_)(?:auth|pat|pw|pwd|pass|dsn|jwt)(?:_|$)|cookies?(?:_|$)|jwts?(?:_|$)|.pwd$|authorization"
    r"|(?:database|redis|mongo(?:db)?|postgres(?:ql)?|mysql|amqp|broker|cache)_?ur[li]|connection_?string"
)
_USERINFO = re.compile(r"[a-zA-Z][\w+.-]*://[^/\s:@]*:([^/\s@]+)@")


def is_secret_name(name: str) -> bool:
    """Tell whether what has this name is a secret, as far as a name can say."""
    return bool(_SECRET_NAME.search(name))


def secrets_in_environment(environment: Mapping[str, str], names: Iterable[str] = ()) -> Iterator[str]:
    """The values of the variables with these names, and of those that are named like secrets and may be ones."""
    yield from (value for name in names if (value := environment.get(name, "")))
    yield from secrets_in_mapping(environment)


def secrets_in_mapping(given: object, name: str = "") -> Iterator[str]:
    """The same of what JSON or settings hold, at any depth."""
    match given:
        case str() if is_secret_name(name):
            yield from _secret_parts(given)
        case dict() | Mapping():
            for key, value in given.items():
                yield from secrets_in_mapping(value, str(key))
        case list() | tuple():
            for value in given:
                yield from secrets_in_mapping(value, name)


def _secret_parts(value: str) -> Iterator[str]:
    """What of a variable's value is secret: all of it, or the password in an address; nothing of a path or a word."""
    if found := _USERINFO.match(value):
        yield found[1]
        return
    value = value.removeprefix("Bearer ").removeprefix("Basic ")
    is_word = re.fullmatch(r"[A-Za-z]+(?:[ _.-][A-Za-z]+)*", value) and (len(value) < 16 or "." in value)
    is_place = re.match(r"~?\.{0,2}/|[a-zA-Z][\w+.-]*://|\$|[A-Za-z]:\\", value)
    if not (is_word or is_place or re.fullmatch(r"[\d.,:_+-]+", value)):
        yield value
