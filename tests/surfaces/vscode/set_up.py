"""Installs code-server (VS Code in a browser) from npm, with a Node that it runs on, once for a machine.

`python -m tests.surfaces.vscode.set_up` takes half a minute the first time and nothing later. Without it the tests of
the extension are skipped, with a word.
"""

import os
import shutil
import sys
from pathlib import Path

from tests.cached_install import CACHE, install, is_installed, run_step
from tests.node import WHEEL, install_node, node_program, run_npm

PACKAGE = "code-server@4.139.1"
PLACE = Path(os.environ.get("HALOCLINE_CODE_SERVER") or CACHE / "code-server")
MISSING = f"no code-server in {PLACE}: `make test` installs it, or python -m tests.surfaces.vscode.set_up"
MODULES, EXTENSIONS = "lib/vscode/node_modules", "lib/vscode/extensions"
UNNEEDED = (
    f"{MODULES}/@github/copilot-sdk*",
    f"{MODULES}/@microsoft/mxc-sdk",
    f"{MODULES}/@vscode/windows-*",
    f"{MODULES}/node-pty/deps",
    f"{EXTENSIONS}/copilot",
    f"{EXTENSIONS}/mermaid-markdown-features",
    f"{EXTENSIONS}/microsoft-authentication",
    "**/*.map",
    *(
        f"{MODULES}/{programs}/{system}-*"
        for programs in ("@vscode/ripgrep-universal/bin", "node-pty/prebuilds")
        for system in ("darwin", "linux", "win32")
        if system != sys.platform
    ),
)
"""Other people's models and other systems' programs: a third of what npm brings."""
_STAMP = " ".join((WHEEL, PACKAGE))


def server_command() -> list[str] | None:
    """The words that start the server; None if it is not installed."""
    node = node_program()
    is_whole = node and is_installed(PLACE, _STAMP)
    return [str(node), str(PLACE / "out" / "node" / "entry.js")] if is_whole else None


def main() -> int:
    if server_command() is None:
        print(f"Installing {PACKAGE} for the tests of the VS Code extension, in {PLACE}")
    if not (install_node() and install(PLACE, _STAMP, _install_server)):
        print("code-server could not be installed; the tests of the VS Code extension are skipped.", file=sys.stderr)
    return 0


def _install_server(folder: Path) -> bool:
    """Unpack the package and install its libraries inside it, which its own scripts would do."""
    if not run_npm(f"{PACKAGE} from npm (45 MB)", "pack", PACKAGE, cwd=folder):
        return False
    (archive,) = folder.glob("*.tgz")
    if not run_step("unpacking", ["tar", "-xzf", archive, "--strip-components=1"], folder):
        return False
    archive.unlink()
    for title, part in (
        ("libraries of the server", folder),
        ("libraries of VS Code (65 MB)", folder / "lib" / "vscode"),
    ):
        if not run_npm(title, "install", "--omit=dev", cwd=part):
            return False
    _prune(folder)
    return True


def _prune(folder: Path) -> None:
    print("  removing what the tests do not need …", flush=True)
    for pattern in UNNEEDED:
        for path in folder.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


if __name__ == "__main__":
    sys.exit(main())
