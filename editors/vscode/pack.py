"""Packs this folder's extension and the project's wheel into `NAME-VERSION.vsix`, with Python alone: `make vsix`.

The extension installs the wheel that it carries, so it never asks for a package by a name. The same files give the
same bytes. What package.json needs, and every file and text that it names, must be there.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HERE = Path(__file__).parent
PACKAGE = "package"
"""The folder of the archive with the wheel and `requirements.txt`, which names it and all it needs by their hashes."""
REQUIRED = ("name", "displayName", "description", "version", "publisher", "license", "engines", "contributes")
PACKED = (
    "package.json",
    "package.nls*.json",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "**/*.js",
    "media/**/*",
    "l10n/**/*",
)
LEFT_OUT = {"test", "tests", "node_modules"}
"""Folders whose scripts are no part of the extension."""
NAME_FILES = {"main", "browser", "icon", "path", "image", "svg", "markdown", "configuration", "fontPath"}
"""Keys of package.json whose texts are files of the extension."""
ASSETS = {
    "package.json": "Microsoft.VisualStudio.Code.Manifest",
    "README.md": "Microsoft.VisualStudio.Services.Content.Details",
    "CHANGELOG.md": "Microsoft.VisualStudio.Services.Content.Changelog",
    "LICENSE": "Microsoft.VisualStudio.Services.Content.License",
}
MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "application/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".txt": "text/plain",
    ".vsixmanifest": "text/xml",
    ".whl": "application/zip",
    ".woff2": "font/woff2",
}
YEAR_ONE = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip file can hold; real ones would make each archive another."""


class PackingError(Exception):
    """What is wrong with the extension, one line for each fault."""


def build_package(project: Path) -> dict[str, bytes]:
    """Build the project's wheel; gives the files that the extension carries."""
    with TemporaryDirectory() as place:
        words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", place]
        subprocess.run(words, cwd=project, check=True, capture_output=True)
        (wheel,) = Path(place).iterdir()
        content = wheel.read_bytes()
    named = f"./{wheel.name} --hash=sha256:{sha256(content).hexdigest()}\n"
    needed = (project / "run.lock").read_text(encoding="utf-8")
    return {f"{PACKAGE}/{wheel.name}": content, f"{PACKAGE}/requirements.txt": (needed + named).encode()}


def pack(folder: Path, target: Path, carried: Mapping[str, bytes] = {}) -> Path:
    """Write the archive of the extension in `folder` into the folder `target`; gives its path.

    `carried` are further files of the archive.

    Raises: `PackingError` with all that is missing.
    """
    package = _read_json(folder / "package.json")
    texts = _read_json(folder / "package.nls.json") if (folder / "package.nls.json").exists() else {}
    names = list_files(folder)
    if faults := [*find_faults(package, texts, names)]:
        raise PackingError("\n".join(faults))
    target.mkdir(parents=True, exist_ok=True)
    archive = target / f"{package['name']}-{package['version']}.vsix"
    with ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=9) as zipped:
        _write(zipped, "extension.vsixmanifest", _make_manifest(_translate(package, texts), names).encode())
        _write(zipped, "[Content_Types].xml", _make_content_types([*names, *carried]).encode())
        for name in names:
            _write(zipped, f"extension/{name}", (folder / name).read_bytes())
        for name, content in carried.items():
            _write(zipped, f"extension/{name}", content)
    return archive


def list_files(folder: Path) -> list[str]:
    """The files of the extension, as paths below its folder."""
    found = {path.relative_to(folder) for pattern in PACKED for path in folder.glob(pattern) if path.is_file()}
    return sorted(path.as_posix() for path in found if not _is_left_out(path))


def find_faults(package: dict[str, Any], texts: dict[str, str], names: list[str]) -> Iterator[str]:
    yield from (f"package.json has no {field}" for field in REQUIRED if not package.get(field))
    if "vscode" not in package.get("engines", {}):
        yield "package.json has no engines.vscode"
    if not re.fullmatch(r"\d+\.\d+\.\d+", package.get("version", "")):
        yield "the version in package.json is not like 1.2.3"
    if not package.keys() & {"main", "browser"}:
        yield "package.json has no main"
    for key, text in _walk(package):
        if text.startswith("%") and text.endswith("%") and text[1:-1] not in texts:
            yield f"package.nls.json has no {text[1:-1]}"
        elif _names_file(key, text) and not _is_packed(text, names):
            yield f"package.json names {text}, which is not packed"


def _walk(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Each text in a JSON value, with the key that it is under; an icon may have two, for two kinds of themes."""
    match value:
        case str():
            yield key, value
        case dict():
            for name, inner in value.items():
                yield from _walk(inner, key if name in ("light", "dark") else name)
        case list():
            for inner in value:
                yield from _walk(inner, key)


def _names_file(key: str, text: str) -> bool:
    return text.startswith("./") or (key in NAME_FILES and not text.startswith(("$(", "%", "http")))


def _is_packed(text: str, names: list[str]) -> bool:
    """True for a file, for a script without its ending, and for a folder with files."""
    path = text.removeprefix("./").rstrip("/")
    return path in names or f"{path}.js" in names or any(name.startswith(f"{path}/") for name in names)


def _is_left_out(path: Path) -> bool:
    return bool(LEFT_OUT & {*path.parts}) or any(part.startswith(".") for part in path.parts)


def _translate(package: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """The package with the shown fields in English."""
    return {
        key: texts[value[1:-1]] if isinstance(value, str) and value.startswith("%") else value
        for key, value in package.items()
    }


def _make_manifest(package: dict[str, Any], names: list[str]) -> str:
    assets = {name: kind for name, kind in ASSETS.items() if name in names}
    icon = package.get("icon", "").removeprefix("./")
    if icon:
        assets[icon] = "Microsoft.VisualStudio.Services.Icons.Default"
    properties = {
        "Engine": package["engines"]["vscode"],
        "ExtensionKind": ",".join(package.get("extensionKind", ["workspace"])),
        "ExtensionDependencies": ",".join(package.get("extensionDependencies", [])),
        "ExtensionPack": ",".join(package.get("extensionPack", [])),
    }
    identity = {"Language": "en-US", "Id": package["name"], "Version": package["version"]}
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">',
        "<Metadata>",
        _tag("Identity", **identity, Publisher=package["publisher"]),
        f"<DisplayName>{escape(package['displayName'])}</DisplayName>",
        f'<Description xml:space="preserve">{escape(package["description"])}</Description>',
        f"<Tags>{escape(','.join(package.get('keywords', [])))}</Tags>",
        f"<Categories>{escape(','.join(package.get('categories', ['Other'])))}</Categories>",
        "<Properties>",
        *(_tag("Property", Id=f"Microsoft.VisualStudio.Code.{name}", Value=text) for name, text in properties.items()),
        "</Properties>",
        *(["<License>extension/LICENSE</License>"] if "LICENSE" in names else []),
        *([f"<Icon>extension/{escape(icon)}</Icon>"] if icon else []),
        "</Metadata>",
        '<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>',
        "<Dependencies/>",
        "<Assets>",
        *(_tag("Asset", Type=kind, Path=f"extension/{name}", Addressable="true") for name, kind in assets.items()),
        "</Assets>",
        "</PackageManifest>",
    ]
    return "\n".join(lines) + "\n"


def _make_content_types(names: list[str]) -> str:
    """The media type of each ending; of each name that has none."""
    paths = [Path("extension.vsixmanifest"), *map(Path, names)]
    endings = sorted({path.suffix for path in paths if path.suffix})
    bare = [path.as_posix() for path in paths if not path.suffix]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">',
        *(
            _tag("Default", Extension=end, ContentType=MEDIA_TYPES.get(end, "application/octet-stream"))
            for end in endings
        ),
        *(_tag("Override", PartName=f"/extension/{name}", ContentType="text/plain") for name in bare),
        "</Types>",
    ]
    return "\n".join(lines) + "\n"


def _tag(name: str, **attributes: str) -> str:
    return f"<{name} {' '.join(f'{key}={quoteattr(value)}' for key, value in attributes.items())}/>"


def _write(archive: ZipFile, name: str, content: bytes) -> None:
    entry = ZipInfo(name, YEAR_ONE)
    entry.compress_type = ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = 0o100644 << 16
    archive.writestr(entry, content)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PackingError(f"{path.name} cannot be read: {error}") from None
    return value


def main() -> int:
    try:
        archive = pack(HERE, Path("dist"), build_package(HERE.parents[1]))
    except PackingError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{archive} ({archive.stat().st_size / 1000:.0f} kB, {len(list_files(HERE))} files)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
