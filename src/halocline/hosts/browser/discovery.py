"""Finds the installed Chromium and the library that drives it. Starts nothing."""

import os
from collections.abc import Iterable
from importlib.util import find_spec

from halocline.hosts.executables import find_program
from halocline.installation import extra_command
from halocline.protocol.values import Value

QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
"""Flags that keep Chromium from contacting servers by itself."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
NO_LIBRARY = "the Python package playwright is not installed"
NO_CHROMIUM = "no Chromium was found"
INSTALL_CHROMIUM = "Install chromium or google-chrome, or set browser_executable to its path."


class FoundBrowser(Value, frozen=True):
    """`program` is empty when no browser can be used; then `missing` says why and `hint` what to do."""

    program: str = ""
    missing: str = ""
    hint: str = ""


def find_browser(executable: str, places: Iterable[str] = MAC_PLACES, remote: str = "") -> FoundBrowser:
    """Find the program from the settings, or a usual one on PATH or in `places`; `remote` needs no program."""
    if find_spec("playwright") is None:
        return FoundBrowser(missing=NO_LIBRARY, hint=f"Install it: {extra_command('browser')}")
    if remote:
        return FoundBrowser(remote)
    if executable:
        named = os.path.expanduser(executable)
        if os.access(named, os.X_OK) and os.path.isfile(named):
            return FoundBrowser(named)
        return FoundBrowser(missing=f"{named} is not an executable", hint="Correct the setting browser_executable.")
    usual = (find_program(name) for name in NAMES)
    found = next(filter(None, usual), None) or next((one for one in places if os.access(one, os.X_OK)), None)
    return FoundBrowser(found) if found else FoundBrowser(missing=NO_CHROMIUM, hint=INSTALL_CHROMIUM)
