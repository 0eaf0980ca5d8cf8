"""One line of `halo doctor`."""

from halocline.protocol.values import Value


class Finding(Value, frozen=True):
    """One check. Halocline does not work while a `needed` finding is not `ok`."""

    name: str
    ok: bool
    text: str
    hint: str = ""
    needed: bool = True
