"""What a build says of itself: its version, from the commit that it is made of, and the parts of others in it.

Two builds with one name are one build. A release is the commit with the tag `vVERSION`; any other is
`VERSION.devCOUNT+gCOMMIT`, where COUNT is the number of commits up to it, so that installers see which of two is newer.
hatchling asks `read_version`, and the hook writes it into the wheel; a clone that is installed as it is keeps the
version that it is on its way to. The bill of materials (CycloneDX, in `.dist-info/sboms`, PEP 770) has no time and no
random number: the same commit gives the same bytes. `halo docs` shows the pages that the wheel gets.
"""

import json
import re
import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[1]
NAMED = "src/halocline/_version.py"
VENDORED = "src/halocline/surfaces/web/static/vendor/manifest.json"
CATALOG = {"type": "data", "name": "models.dev", "licenses": [{"license": {"id": "MIT"}}]}


def read_version(root: Path = ROOT) -> str:
    """Return the version of a build of these files. Where git cannot tell, as in an archive, it is not a release."""
    (aim,) = re.findall(r'^__version__ = "(.+)"$', (root / NAMED).read_text(encoding="utf-8"), re.MULTILINE)
    try:
        return aim + _tell_commit(root, f"v{aim}") if (root / ".git").exists() else f"{aim}.dev0"
    except (OSError, subprocess.CalledProcessError):
        return f"{aim}.dev0"


def _tell_commit(root: Path, release: str) -> str:
    is_changed = bool(_ask_git(root, "status", "--porcelain", "--untracked-files=no"))
    if release in _ask_git(root, "tag", "--points-at", "HEAD").split() and not is_changed:
        return ""
    count, commit = _ask_git(root, "rev-list", "--count", "HEAD"), _ask_git(root, "rev-parse", "--short=8", "HEAD")
    return f".dev{count}+g{commit}" + (".changed" if is_changed else "")


def _ask_git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def list_parts(root: Path, version: str) -> dict[str, Any]:
    """Return the bill of materials: what others made that is in the wheel. Its dependencies are not in it."""
    rows = json.loads((root / VENDORED).read_text(encoding="utf-8"))
    held = {(row["package"], row["version"]): row["licence"] for row in rows}
    parts = [
        {
            "type": "library",
            "name": name,
            "version": number,
            "purl": f"pkg:npm/{name.replace('@', '%40')}@{number}",
            "licenses": [{"expression": licence}],
        }
        for (name, number), licence in sorted(held.items())
    ]
    product = {"type": "application", "name": "halocline", "version": version}
    about = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": product}}
    return {**about, "components": [*parts, CATALOG]}


class VersionHook(BuildHookInterface[Any]):
    """Puts the version of the build in the place of the source's, and adds the bill of materials."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file that the wheel gets instead."""
        if version == "editable":
            return
        text = (Path(self.root) / NAMED).read_text(encoding="utf-8")
        written = Path(mkdtemp()) / "_version.py"
        changed = re.sub(r'^__version__ = ".+"$', f'__version__ = "{self.metadata.version}"', text, flags=re.MULTILINE)
        written.write_text(changed, encoding="utf-8")
        build_data["force_include"][str(written)] = NAMED.removeprefix("src/")
        bill = written.with_name("halocline.cdx.json")
        parts = list_parts(Path(self.root), self.metadata.version)
        bill.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
        build_data["sbom_files"].append(str(bill))
        for pages in ("docs/guide", "docs/reference"):
            build_data["force_include"][str(Path(self.root) / pages)] = f"halocline/{pages}"
