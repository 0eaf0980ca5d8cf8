"""Fetches the modules that the browser UI ships, as `vendored.json` names them, and writes their manifest and notices.

python -m scripts.vendor      needs npm; nobody needs it who only uses or builds Halocline

Bare imports become relative ones, so that a page needs no import map, which some content policies forbid. A file may be
a bundle already: a row names what it `holds`. All that this needs, as it was `before` the day after the bundle, is in
the manifest and the notices, though the bundle may have another version or leave it out; what it is `without` is not.
"""

import hashlib
import json
import posixpath
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "src/halocline/surfaces/web/static/vendor"
ROWS = Path(__file__).with_name("vendored.json")
BARE = {
    "preact": "preact.js",
    "preact/hooks": "hooks.js",
    "@preact/signals-core": "signals-core.js",
}
_IMPORT = re.compile(r'(from\s*)"(' + "|".join(re.escape(name) for name in BARE) + ')"')
Notices = dict[str, list[str]]
"""The text of a licence, and the packages with it."""
HEAD = """\
Halocline's page holds these packages of others, in files of their own or in bundles; made by scripts/vendor.py.
Of mermaid, which comes as a bundle, all that it needs is here, in versions that may differ.
"""
LINE = f"\n{'=' * 100}\n\n"
_LICENCE = re.compile(r"(licen[cs]e|notice|copying)([.-]\w+)*", re.IGNORECASE)
_SHORT = {"The MIT License (MIT)": "MIT"}
"""Licences by the first line of their texts, for a package that does not name its own."""
_MAP = re.compile(r"\n?//# sourceMappingURL=\S+\s*$")


def relative(text: str, name: str) -> str:
    """The module with relative imports, and without the name of a map that is not shipped."""
    base = posixpath.dirname(name) or "."

    def local(found: re.Match[str]) -> str:
        return f'{found[1]}"./{posixpath.relpath(BARE[found[2]], base)}"'

    return _MAP.sub("\n", _IMPORT.sub(local, text))


def shipped(data: bytes, name: str, row: dict[str, Any]) -> bytes:
    """The file as it is shipped: modules with relative imports, scripts of one name as modules, others as they are."""
    if not name.endswith(".js"):
        return data
    text = relative(data.decode(), name)
    if exported := row.get("exports", {}).get(name):
        text = f"{text.rstrip()}\nexport default {exported};\n"
    return text.encode()


def fetch(row: dict[str, Any], scratch: Path, notices: Notices) -> list[dict[str, str]]:
    """Write the files of one package; gives their lines of the manifest, and those of what they hold."""
    spec = f"{row['name']}@{row['version']}"
    packed = subprocess.run(
        ["npm", "pack", "--json", spec], cwd=scratch, check=True, capture_output=True, text=True
    ).stdout
    described = json.loads(packed)
    facts = described[0] if isinstance(described, list) else next(iter(described.values()))
    lines = []
    with tarfile.open(scratch / facts["filename"]) as archive:
        about = json.loads(_read(archive, "package.json"))
        for source, name in row["files"].items():
            data = shipped(_read(archive, source), name, row)
            target = FOLDER / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            lines.append(
                {
                    "file": name,
                    "package": row["name"],
                    "version": row["version"],
                    "licence": about["license"],
                    "source": source,
                    "package_integrity": facts["integrity"],
                    "sha256": hashlib.sha256(data).hexdigest(),
                }
            )
        members = [name.removeprefix("package/") for name in archive.getnames()]
        texts = {name: _read(archive, name).decode() for name in members if _LICENCE.fullmatch(name)}
    notices.setdefault(_notice_of(about, texts), []).append(f"{row['name']} {row['version']}")
    if "holds" in row:
        (scratch / "held").mkdir()
        _npm_install(row["holds"], scratch / "held", "--before", row["before"])
        held = _describe_parts(scratch / "held", lines[0]["file"], lines[0]["sha256"], notices, row["without"])
        lines += held
    return lines


def bundle(row: dict[str, Any], scratch: Path, notices: Notices) -> list[dict[str, str]]:
    """Write one module that holds what `exports` names of several packages; gives its lines of the manifest.

    The packages and esbuild, which puts them together, have fixed versions.
    """
    folder = scratch / row["bundle"]
    folder.mkdir()
    entry = "".join(f"export {{ {', '.join(names)} }} from '{name}'\n" for name, names in row["exports"].items())
    (folder / "entry.js").write_text(entry)
    form = ["--bundle", "--minify", "--format=esm", "--legal-comments=none", "--outfile=out.js"]
    _npm_install(row["packages"], folder)
    subprocess.run(["npx", "esbuild", "entry.js", *form], cwd=folder, check=True)
    data = (folder / "out.js").read_bytes()
    (FOLDER / row["bundle"]).write_bytes(data)
    return _describe_parts(folder, row["bundle"], hashlib.sha256(data).hexdigest(), notices)


def _npm_install(packages: dict[str, str], folder: Path, *options: str) -> None:
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": packages}))
    words = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", *options]
    subprocess.run(words, cwd=folder, check=True)


def _describe_parts(
    folder: Path, file: str, digest: str, notices: Notices, without: Sequence[str] = ()
) -> list[dict[str, str]]:
    """Note the licence of each installed package that has code of the file; gives their lines of the manifest."""
    lines = []
    for place, facts in json.loads((folder / "package-lock.json").read_text())["packages"].items():
        name = place.rpartition("node_modules/")[2]
        if not place or "esbuild" in name or name.startswith("@types/") or name in without:
            continue
        about = json.loads((folder / place / "package.json").read_text())
        texts = {one.name: one.read_text() for one in (folder / place).iterdir() if _LICENCE.fullmatch(one.name)}
        notice = _notice_of(about, texts)
        notices.setdefault(notice, []).append(f"{name} {facts['version']}")
        lines.append(
            {
                "file": file,
                "package": name,
                "version": facts["version"],
                "licence": about.get("license") or _SHORT[notice.strip().partition("\n")[0]],
                "source": "bundled",
                "package_integrity": facts["integrity"],
                "sha256": digest,
            }
        )
    return lines


def _notice_of(about: dict[str, Any], texts: dict[str, str]) -> str:
    """Return the texts of a package's licence; of one that has none, what it says of it."""
    if texts:
        return "\n\n".join(text.strip() for _, text in sorted(texts.items()))
    author = about.get("author", "")
    by = author.get("name", "") if isinstance(author, dict) else author
    return f"The package has no text of its licence. It says: {about['license']}; author: {by or 'not said'}"


def write_notices(notices: Notices) -> str:
    """Return the notices: each text once, below the packages that it is of."""
    blocks = ["\n".join([*sorted({*names}), "", text, ""]) for text, names in notices.items()]
    return HEAD + LINE + LINE.join(sorted(blocks))


def _read(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(f"package/{name}")
    if member is None:
        raise SystemExit(f"The package has no {name}.")
    return member.read()


def main() -> None:
    for old in FOLDER.rglob("*"):
        if old.is_file() and not old.name.endswith(".d.ts"):  # types, which are ours
            old.unlink()
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines, notices = [], Notices()
    with tempfile.TemporaryDirectory() as scratch:
        for row in json.loads(ROWS.read_text()):
            lines += (bundle if "bundle" in row else fetch)(row, Path(scratch), notices)
    (FOLDER / "manifest.json").write_text(json.dumps(lines, indent=1) + "\n")
    (FOLDER / "NOTICES.txt").write_text(write_notices(notices))
    print(f"{len(lines)} files in {FOLDER}")


if __name__ == "__main__":
    main()
