"""The choice of a browser: the program, or the address of one that runs already."""

from halocline.protocol.values import Value

FELL_BACK = "Nothing usable answered at {remote} (the setting browser_remote), so a browser was started here instead."


class BrowserSetup(Value, frozen=True):
    """`executable` is Chromium; `remote` is a debugging address on this machine to use instead, if one answers."""

    executable: str = ""
    remote: str = ""
    viewport: tuple[int, int] = (900, 600)
    ca_files: tuple[str, ...] = ()
