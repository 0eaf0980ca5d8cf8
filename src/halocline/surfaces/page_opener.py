"""Opens a page in the browser from a separate process, as the standard library would pass on every variable."""

import os
import subprocess
import sys

from halocline.protocol.child_environment import child_environment

_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def open_page(url: str) -> bool:
    """Open a page. False when no browser was found."""
    words = [sys.executable, "-I", "-c", _OPEN, url]
    return subprocess.run(words, check=False, env=child_environment(os.environ)).returncode == 0
