"""One line of `halo doctor`."""

from halocline.protocol.values import Value


class Finding(Value, frozen=True):
    """One check. `needed` findings that are not `ok` keep Halocline from working."""

    name: str
    ok: bool
    text: str
    hint: str = ""
    needed: bool = True
