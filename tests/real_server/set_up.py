"""Builds a real llama.cpp server, once for a machine, from the source that a PyPI package carries.

`python -m tests.real_server.set_up` takes five to ten minutes the first time (cmake and a C++ compiler are needed) and
nothing later. It lives in a folder of its own outside the repository, so that all checkouts share it; the stamp is
written last, so what is there is whole. No weights are fetched: the model is made by `make_model`.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

PACKAGE, VERSION = "llama-cpp-python", "0.3.36"
SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
PLACE = Path(os.environ.get("HALOCLINE_REAL_SERVER") or CACHE / "halocline" / f"llama.cpp-{VERSION}")
SERVER = PLACE / "llama-server"
STAMP = PLACE / "built"
MISSING = f"no llama.cpp server in {PLACE}: build it with `make real-model`"

# For any processor, so that the same weights say the same; without optimizing, which takes most of the time.
_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_C_FLAGS_RELEASE=-O2",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DGGML_NATIVE=OFF",
    "-DGGML_OPENMP=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_OPENSSL=OFF",
)


def is_there() -> bool:
    """Whether the server was built to its end."""
    return STAMP.exists() and STAMP.read_text() == VERSION


def main() -> int:
    if is_there():
        print(f"{SERVER} is there.")
        return 0
    if lacking := [program for program in ("cmake", "c++", "make") if not shutil.which(program)]:
        print(f"Needed for the build and not found: {', '.join(lacking)}.", file=sys.stderr)
        return 1
    work = PLACE / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    source = _unpacked(_fetched(work), work)
    print(f"Building llama-server in {work}: five to ten minutes …", flush=True)
    _build(source, work / "out")
    shutil.copy2(work / "out" / "bin" / "llama-server", SERVER)
    shutil.rmtree(work)
    STAMP.write_text(VERSION)
    print(f"{SERVER} is built.")
    return 0


def _fetched(work: Path) -> Path:
    """The source package, by pip, so that this machine's index and proxy are used."""
    download = ("download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", PACKAGE)
    subprocess.run([sys.executable, "-m", "pip", *download, "-d", work, f"{PACKAGE}=={VERSION}"], check=True)
    (archive,) = work.glob("*.tar.gz")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise SystemExit(f"{archive} is not the {PACKAGE} {VERSION} that is known here.")
    return archive


def _unpacked(archive: Path, work: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(work, filter="data")
    return next(work.glob("*/vendor/llama.cpp"))


def _build(source: Path, out: Path) -> None:
    with open(out.parent / "build.log", "wb") as log:
        for words in (
            ["cmake", "-S", source, "-B", out, *_OPTIONS],
            ["cmake", "--build", out, "--target", "llama-server", "--parallel", str(os.cpu_count() or 1)],
        ):
            if subprocess.run(["nice", *words], stdout=log, stderr=log, check=False).returncode:
                raise SystemExit(f"The build failed; see {log.name}.")


if __name__ == "__main__":
    sys.exit(main())
