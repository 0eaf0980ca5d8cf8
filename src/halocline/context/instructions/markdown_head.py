"""The front matter of a Markdown file: the lines between two `---` at its top."""

_BLOCKS = (">", "|", ">-", "|-", ">+", "|+")


def split_head(text: str) -> tuple[str, str]:
    """Split a text into front matter and the rest."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() == "---":
        for at, line in enumerate(lines[1:], start=1):
            if line.rstrip() == "---":
                return "\n".join(lines[1:at]), "\n".join(lines[at + 1 :])
    return "", text


def read_fields(head: str) -> dict[str, str]:
    """Read the top-level fields as text: what programs write there (`argument-hint: [a] [b]`) is often not YAML."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in head.split("\n"):
        key, colon, value = line.partition(":")
        if colon and key.strip() and not line[:1].isspace() and not line.startswith(("#", "-")):
            name = key.strip().lower()
            found[name] = [] if value.strip() in _BLOCKS else [value.strip()]
        elif name and line.strip() and (line[:1].isspace() or line.startswith("-")):
            found[name].append(line.strip())
    return {name: _unquote(" ".join(filter(None, values))) for name, values in found.items()}


def _unquote(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
