"""Installs two real language servers from npm, once for a machine: pyright and TypeScript's.

`python -m tests.hosts.language_servers.set_up` takes ten seconds the first time (node and npm are needed) and nothing
later. They live in a folder of their own outside the repository; the stamp is written last, so what is there is whole.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ("pyright@1.1.414", "typescript-language-server@6.0.2", "typescript@5.9.3")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
PLACE = Path(os.environ.get("HALOCLINE_LANGUAGE_SERVERS") or CACHE / "halocline" / "language-servers")
PROGRAMS = PLACE / "node_modules" / ".bin"
STAMP = PLACE / "installed"
MISSING = f"no language servers in {PLACE}: `make test` installs them, or python -m tests.hosts.language_servers.set_up"


def are_there() -> bool:
    """Whether they were installed to the end."""
    return STAMP.exists() and STAMP.read_text() == " ".join(PACKAGES)


def main() -> int:
    if are_there():
        return 0
    npm = shutil.which("npm")
    if npm is None:
        print("npm is needed for the tests with real language servers; they are skipped.", file=sys.stderr)
        return 0
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    options = ("--prefix", str(PLACE), "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
    done = subprocess.run(
        [npm, "install", *options, "--fetch-retries=1", *PACKAGES], env=_environment(), stdout=subprocess.DEVNULL
    )
    if done.returncode:
        print("npm could not install the language servers; the tests with them are skipped.", file=sys.stderr)
        return 0
    STAMP.write_text(" ".join(PACKAGES))
    return 0


def _environment() -> dict[str, str]:
    """Node knows no certificates but its own; a company's are among the system's."""
    bundle = os.environ.get("SSL_CERT_FILE") or "/etc/ssl/certs/ca-certificates.crt"
    return {"NODE_EXTRA_CA_CERTS": bundle, **os.environ} if os.path.exists(bundle) else dict(os.environ)


if __name__ == "__main__":
    sys.exit(main())
