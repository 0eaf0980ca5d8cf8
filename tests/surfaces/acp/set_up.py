"""Installs clients of the protocol from npm, with a Node that they run on, and one from PyPI, once for a machine.

`python -m tests.surfaces.acp.set_up` takes some seconds the first time and nothing later. Without them their tests are
skipped, with a word.
"""

import os
import sys
from pathlib import Path

from tests.cached_install import CACHE, install, is_installed, run_step
from tests.node import WHEEL, install_node, node_program, run_npm

PACKAGES = (
    *("acpx@0.19.1", "acp-factory@0.1.14"),
    *("@agentclientprotocol/sdk@2.4.0", "@zed-industries/agent-client-protocol@0.4.5"),
)
FROM_PYPI = "acp-client==0.1.0"
PLACE = Path(os.environ.get("HALOCLINE_ACP_CLIENTS") or CACHE / "acp-clients")
MISSING = f"no ACP clients in {PLACE}: `make test` installs them, or python -m tests.surfaces.acp.set_up"
_STAMP = " ".join((WHEEL, *PACKAGES, FROM_PYPI))


def node() -> Path | None:
    """Node's program; None if the clients are not installed."""
    return node_program() if is_installed(PLACE, _STAMP) else None


def acpx() -> Path:
    """The script of acpx."""
    return PLACE / "node_modules" / ".bin" / "acpx"


def python_packages() -> Path:
    """The folder of the client from PyPI."""
    return PLACE / "python"


def main() -> int:
    if not (install_node() and install(PLACE, _STAMP, _install_clients)):
        print("The ACP clients could not be installed; tests with them are skipped.", file=sys.stderr)
    return 0


def _install_clients(folder: Path) -> bool:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    from_pypi = [*pip, "--target", str(folder / "python"), FROM_PYPI]
    return run_npm("ACP clients from npm", "install", "--prefix", str(folder), *PACKAGES, cwd=folder) and run_step(
        "an ACP client from PyPI", from_pypi, folder
    )


if __name__ == "__main__":
    sys.exit(main())
