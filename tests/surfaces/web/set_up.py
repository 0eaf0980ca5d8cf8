"""Installs TypeScript from npm, with a Node that it runs on, once for a machine: it checks the page's JavaScript.

`python -m tests.surfaces.web.set_up` takes some seconds the first time and nothing later. Without it the check is
skipped, with a word.
"""

import os
import sys
from pathlib import Path

from tests.cached_install import CACHE, install, is_installed
from tests.node import WHEEL, install_node, node_program, run_npm

PACKAGE = "typescript@5.9.3"
PLACE = Path(os.environ.get("HALOCLINE_TYPESCRIPT") or CACHE / "typescript")
MISSING = f"no TypeScript in {PLACE}: `make test` installs it, or python -m tests.surfaces.web.set_up"
_STAMP = f"{WHEEL} {PACKAGE}"


def type_checker() -> list[Path]:
    """The command that checks types; empty if it is not installed."""
    node = node_program()
    if not node or not is_installed(PLACE, _STAMP):
        return []
    return [node, PLACE / "node_modules" / "typescript" / "lib" / "tsc.js"]


def main() -> int:
    if not (install_node() and install(PLACE, _STAMP, _install_typescript)):
        print("TypeScript could not be installed; the page's types are not checked.", file=sys.stderr)
    return 0


def _install_typescript(folder: Path) -> bool:
    return run_npm("TypeScript from npm", "install", "--prefix", str(folder), PACKAGE, cwd=folder)


if __name__ == "__main__":
    sys.exit(main())
