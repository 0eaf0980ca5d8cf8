"""Arithmetic in a form that evaluates plain numbers only: bash would run commands that stand in the text of a variable.

Each variable stands for what of its text are digits and a minus; so nothing depends on what was known of it before.
"""

import re

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]{1,15}|\d{1,18})(?![\w#])"
    r"|\$?\{?(?P<name>[a-z_][a-z0-9_]*)\b\}?"
    r"|(?P<step>\+\+|--)"
    r"|(?P<sets>(?:[-+*/%]|<<|>>)?=(?!=))"
    r"|(?P<operator>\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),]))"
)


def guard_arithmetic(text: str) -> str | None:
    """The expression in its safe form; None when it holds anything but plain numbers, variables and operators."""
    tokens = _split_tokens(text)
    if tokens is None:
        return None
    said: list[str] = []
    while tokens:
        kind, found = tokens.pop(0)
        following = tokens[0][0] if tokens else ""
        match kind:
            case "name" if following == "sets":
                operator = tokens.pop(0)[1]
                said.append(f"{found}={_read_number(found) + operator[:-1] if len(operator) > 1 else ''}")
                if len(operator) > 1 and not _is_simple(tokens):
                    return None
            case "name" if following == "step":
                sign = tokens.pop(0)[1][0]
                said.append(f"({found}={_read_number(found)}{sign}1,{found}{'-' if sign == '+' else '+'}1)")
            case "step" if following == "name":
                name = tokens.pop(0)[1]
                said.append(f"({name}={_read_number(name)}{found[0]}1)")
            case "name":
                said.append(_read_number(found))
            case "step" | "sets":
                return None
            case _:
                said.append(found)
    return " ".join(said)


def _split_tokens(text: str) -> list[tuple[str, str]] | None:
    found, at = list[tuple[str, str]](), 0
    text = text.strip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token or token.lastgroup is None:
            return None
        found.append((token.lastgroup, token[token.lastgroup]))
        at = token.end()
    return found


def _read_number(name: str) -> str:
    return f"(${{{name}//[!0-9-]/}}+0)"


def _is_simple(tokens: list[tuple[str, str]]) -> bool:
    """Tell whether a single number or variable is left, so that an operator in front applies to all of it."""
    return len(tokens) == 1 and tokens[0][0] in ("number", "name")
