"""Installs Harbor's own models of trajectories, once for a machine, without the sixty packages that Harbor needs.

`python -m tests.surfaces.harbor_set_up` takes some seconds the first time and nothing later. Without them, trajectories
are not judged by Harbor, with a word. They need pydantic alone, and run on an older Python than Harbor does.

With `all` it also installs Harbor itself, with all that it needs (500 MB, two minutes), for which it looks for a Python
from 3.12 on; `make test-all` does.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cached_install import CACHE, install, is_installed, run_step

PACKAGE = "harbor==0.26.0"
PLACE = Path(os.environ.get("HALOCLINE_HARBOR") or CACHE / "harbor")
MISSING = f"no Harbor in {PLACE}: `make test` installs it, or python -m tests.surfaces.harbor_set_up"

RUNNER = Path(os.environ.get("HALOCLINE_HARBOR_RUNNER") or CACHE / "harbor-runner")
NO_RUNNER = f"no Harbor to run in {RUNNER}: `make test-all` installs it, or python -m tests.surfaces.harbor_set_up all"
_PYTHONS = ("3.12", "3.13", "3.14")


def harbor() -> Path | None:
    """The folder that Harbor is imported from; None if it is not installed."""
    return PLACE if is_installed(PLACE, PACKAGE) else None


def runner() -> Path | None:
    """The Python that Harbor runs on; None if it is not installed."""
    return RUNNER / "venv/bin/python" if is_installed(RUNNER, PACKAGE) else None


def main(sets: list[str]) -> int:
    if not install(PLACE, PACKAGE, _install_package):
        print("Harbor could not be installed; tests with it are skipped.", file=sys.stderr)
    if sets and not install(RUNNER, PACKAGE, _install_runner):
        print("Harbor's runner could not be installed; tests with it are skipped.", file=sys.stderr)
    return 0


def _install_package(folder: Path) -> bool:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    return run_step("Harbor", [*pip, "--ignore-requires-python", "--target", str(folder), PACKAGE], folder)


def _install_runner(folder: Path) -> bool:
    python = find_newer_python()
    if python is None:
        print("  Harbor needs Python 3.12 or newer, and there is none.", flush=True)
        return False
    pip = [folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]
    made = run_step("a place for Harbor", [python, "-m", "venv", folder / "venv"], folder)
    return made and run_step("Harbor and what it needs", pip, folder)


def find_newer_python() -> str | None:
    """A Python from 3.12 on that makes environments: of pyenv, of uv or on PATH."""
    kept = [Path.home() / ".pyenv/versions", Path.home() / ".local/share/uv/python"]
    known = [path for place in kept for version in _PYTHONS for path in place.glob(f"*{version}.*/bin/python3")]
    words = ("-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))")
    for python in (*known, *(shutil.which(f"python{version}") for version in _PYTHONS)):
        if python and not subprocess.run([python, *words], capture_output=True).returncode:
            return str(python)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
