"""Installs MCP servers that others wrote, once for a machine: from PyPI and from npm, apart from everything else.

`python -m tests.mcp.set_up` takes half a minute the first time and nothing later; with `all` it installs the large
ones, too (600 MB). What cannot be had is left out, with a word; the stamp of each set is written last, so what is there
is whole.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.cached_install import CACHE, is_installed, run_step
from tests.node import install_node, node_program, run_npm

PLACE = Path(os.environ.get("HALOCLINE_MCP_SERVERS") or CACHE / "mcp-servers")
MISSING = f"no MCP servers of others in {PLACE}: `make test` installs them, or python -m tests.mcp.set_up all"
SMALL = {
    "python": ("mcp-server-fetch==2026.10.24", "mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19"),
    "node": (
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "@modelcontextprotocol/server-everything@2026.8.31",
    ),
    "more-node": ("@modelcontextprotocol/server-memory@2026.8.31", "@cyanheads/git-mcp-server@2.15.3"),
}
LARGE = {
    "large-python": ("mcp-server-motherduck==1.1.0",),
    "large-node": (
        "@azure/mcp@2.0.5",
        "@negokaz/excel-mcp-server@0.12.0",
        "@playwright/mcp@0.0.83",
        "kubernetes-mcp-server@0.0.67",
    ),
}
_SETS = SMALL | LARGE


def program(name: str) -> Path | None:
    """A server's program; None when its set was not installed to the end."""
    for folder in map(PLACE.joinpath, _SETS):
        found = folder / ("bin" if "python" in folder.name else "node_modules/.bin") / name
        if is_installed(folder, _stamp(folder.name)) and found.exists():
            return found
    return None


def search_path() -> str:
    """The variable `PATH` with the Node that the servers run on."""
    node = node_program()
    return os.pathsep.join([*([str(node.parent)] if node else []), os.environ["PATH"]])


def main(sets: Iterable[str]) -> int:
    for name in sets:
        _install(name, _pip if "python" in name else _npm)
    return 0


def _install(name: str, fill: Callable[[Path, tuple[str, ...]], bool]) -> None:
    folder = PLACE / name  # a virtual environment cannot be moved, so it is filled in its place
    if is_installed(folder, _stamp(name)):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if fill(folder, _SETS[name]):
        (folder / "installed").write_text(_stamp(name))
    else:
        print(f"The MCP servers of {name} could not be installed; tests with them are skipped.", file=sys.stderr)


def _stamp(name: str) -> str:
    return " ".join(_SETS[name])


def _pip(folder: Path, packages: tuple[str, ...]) -> bool:
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return not made.returncode and run_step("MCP servers from PyPI", [*pip, *packages], folder) and _complete(folder)


def _complete(folder: Path) -> bool:
    """Install what mcp-server-fetch would install at its first page, where it has no settings of npm."""
    places = list(folder.glob("lib/*/site-packages/readabilipy/javascript"))
    return all(install_node() and run_npm("what they need from npm", "install", cwd=place) for place in places)


def _npm(folder: Path, packages: tuple[str, ...]) -> bool:
    words = ("install", "--prefix", str(folder), *packages)
    return install_node() and run_npm("MCP servers from npm", *words, cwd=folder)


if __name__ == "__main__":
    sys.exit(main(_SETS if "all" in sys.argv else SMALL))
