"""Installs Harbor's own models of trajectories, once for a machine, without the sixty packages that Harbor needs.

`python -m tests.surfaces.harbor_set_up` takes some seconds the first time and nothing later. Without them, trajectories
are not judged by Harbor, with a word. They need pydantic alone, and run on an older Python than Harbor does.
"""

import os
import sys
from pathlib import Path

from tests.cached_install import CACHE, install, is_installed, run_step

PACKAGE = "harbor==0.26.0"
PLACE = Path(os.environ.get("HALOCLINE_HARBOR") or CACHE / "harbor")
MISSING = f"no Harbor in {PLACE}: `make test` installs it, or python -m tests.surfaces.harbor_set_up"


def harbor() -> Path | None:
    """The folder that Harbor is imported from; None if it is not installed."""
    return PLACE if is_installed(PLACE, PACKAGE) else None


def main() -> int:
    if not install(PLACE, PACKAGE, _install_package):
        print("Harbor could not be installed; tests with it are skipped.", file=sys.stderr)
    return 0


def _install_package(folder: Path) -> bool:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    return run_step("Harbor", [*pip, "--ignore-requires-python", "--target", str(folder), PACKAGE], folder)


if __name__ == "__main__":
    sys.exit(main())
