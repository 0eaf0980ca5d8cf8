"""Installs Ray for the tests of fleets, once for a machine: 260 MB, so only `make fleet` does it.

`python -m tests.batch.fleet.set_up` takes a minute the first time and nothing later. Without it its tests are skipped,
with a word.
"""

import os
import sys
from pathlib import Path

from tests.cached_install import CACHE, install, is_installed, run_step

PACKAGES = ("ray[client]==2.60.0",)
PLACE = Path(os.environ.get("HALOCLINE_RAY") or CACHE / f"ray-{sys.version_info.major}.{sys.version_info.minor}")
MISSING = f"no Ray in {PLACE}: `make fleet` installs it, or python -m tests.batch.fleet.set_up"
_STAMP = " ".join(PACKAGES)


def ray() -> Path | None:
    """The folder that Ray is imported from; None if it is not installed."""
    return PLACE if is_installed(PLACE, _STAMP) else None


def main() -> int:
    if not install(PLACE, _STAMP, _install_package):
        print("Ray could not be installed; tests with it are skipped.", file=sys.stderr)
    return 0


def _install_package(folder: Path) -> bool:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return run_step("Ray", [*pip, "--target", str(folder), *PACKAGES], folder)


if __name__ == "__main__":
    sys.exit(main())
