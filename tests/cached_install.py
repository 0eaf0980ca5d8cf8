"""Installs what tests need from outside, once for a machine: whole or not at all, and never silent for long.

It is filled beside its place and moved there at the end, so two set-ups at a time do not mix. A stamp has its version.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "halocline"
SILENCE = 5
"""Seconds after which a step says that it still runs."""
_STAMP = "installed"


def is_installed(place: Path, stamp: str) -> bool:
    file = place / _STAMP
    return file.exists() and file.read_text() == stamp


def install(place: Path, stamp: str, fill: Callable[[Path], bool]) -> bool:
    """Have `fill` put everything into a new folder, which becomes `place`. False if it could not."""
    if is_installed(place, stamp):
        return True
    place.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f"{place.name}-", dir=place.parent))
    try:
        if not fill(new):
            return False
        (new / _STAMP).write_text(stamp)
        shutil.rmtree(place, ignore_errors=True)
        new.rename(place)
    except OSError as error:
        print(f"  {error}", flush=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return is_installed(place, stamp)


def run_step(title: str, command: list[str | Path], cwd: Path, environment: Mapping[str, str] | None = None) -> bool:
    """Run one command of an installation; what it prints is shown only if it fails."""
    print(f"  {title} …", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            try:
                process.wait(SILENCE)
            except subprocess.TimeoutExpired:
                print(f"  {title}: {time.monotonic() - began:.0f} s …", flush=True)
        if process.returncode:
            output.seek(0)
            print(output.read()[-2000:], flush=True)
    return not process.returncode
