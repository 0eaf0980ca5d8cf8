"""Rewrite arithmetic so that it evaluates plain numbers only: bash would run commands in the text of a variable.

Each variable is reduced to the digits and minus signs of its text, so nothing depends on what was known of it before.
"""

from halocline.protocol.patterns import compile_later

_TOKEN = compile_later(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]{1,15}|\d{1,18})(?![\w#])"
    r"|\$?\{?(?P<name>[a-z_][a-z0-9_]*)\b\}?"
    r"|(?P<step>\+\+|--)"
    r"|(?P<sets>(?:[-+*/%]|<<|>>)?=(?!=))"
    r"|(?P<operator>\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),]))"
)


def guard_arithmetic(text: str) -> str | None:
    """Return the safe form of an expression; None if it has anything but plain numbers, variables and operators."""
    tokens = _split_tokens(text)
    if tokens is None:
        return None
    form: list[str] = []
    while tokens:
        kind, found = tokens.pop(0)
        following = tokens[0][0] if tokens else ""
        match kind:
            case "name" if following == "sets":
                operator = tokens.pop(0)[1]
                form.append(f"{found}={_read_number(found) + operator[:-1] if len(operator) > 1 else ''}")
                # An operator before it applies to all of what is left, so that must be one number or variable.
                if len(operator) > 1 and [kind for kind, _ in tokens] not in (["number"], ["name"]):
                    return None
            case "name" if following == "step":
                sign = tokens.pop(0)[1][0]
                form.append(f"({found}={_read_number(found)}{sign}1,{found}{'-' if sign == '+' else '+'}1)")
            case "step" if following == "name":
                name = tokens.pop(0)[1]
                form.append(f"({name}={_read_number(name)}{found[0]}1)")
            case "name":
                form.append(_read_number(found))
            case "step" | "sets":
                return None
            case _:
                form.append(found)
    return " ".join(form)


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
