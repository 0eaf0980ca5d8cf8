"""Installs the protocol's public conformance suite from npm, with a Node that it runs on, once for a machine.

`python -m tests.mcp.conformance.set_up` takes some seconds the first time and nothing later. Without it its tests are
skipped, with a word.
"""

import os
import sys
from pathlib import Path

from tests.cached_install import CACHE, install, is_installed
from tests.node import WHEEL, install_node, node_program, run_npm

PACKAGE = "@modelcontextprotocol/conformance@0.1.16"
PLACE = Path(os.environ.get("HALOCLINE_MCP_CONFORMANCE") or CACHE / "mcp-conformance")
MISSING = f"no conformance suite in {PLACE}: `make test` installs it, or python -m tests.mcp.conformance.set_up"
_STAMP = f"{WHEEL} {PACKAGE}"


def suite() -> list[str]:
    """The command of the suite; empty if it is not installed."""
    node = node_program() if is_installed(PLACE, _STAMP) else None
    script = PLACE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return [str(node), str(script)] if node else []


def main() -> int:
    if not (install_node() and install(PLACE, _STAMP, _install_suite)):
        print("The MCP conformance suite could not be installed; its tests are skipped.", file=sys.stderr)
    return 0


def _install_suite(folder: Path) -> bool:
    return run_npm("MCP conformance suite from npm", "install", "--prefix", str(folder), PACKAGE, cwd=folder)


if __name__ == "__main__":
    sys.exit(main())
