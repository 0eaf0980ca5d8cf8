"""Makes the catalogue that Halocline ships, src/halocline/providers/catalog/catalogue.gz, from published facts.

python -m scripts.catalogue --api https://models.dev/api.json     the source itself (or a file of it)
python -m scripts.catalogue --opencode FILE.tgz --pi FILE.tgz     the same facts as two MIT packages carry them:
    npm pack opencode-linux-x64      has all of models.dev compiled in, as of its release
    npm pack @earendil-works/pi-ai   has newer prices of the best known providers

`catalogue_overrides.json` holds what both get wrong, with reasons; a reason that no longer holds should go.
"""

import argparse
import json
import re
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import msgspec

from halocline.providers.catalog.build import pack_catalogue
from halocline.providers.catalog.file import BUNDLED, CatalogueFile

OVERRIDES = Path(__file__).with_name("catalogue_overrides.json")

# A literal of JavaScript, minified: `{a:{id:"a",env:[…`, with !0 and !1 for true and false.
_BEGIN = re.compile(rb'(?:"[^"]{1,60}"|[\w$]{1,60}):\{id:"[^"]+",env:\[')
_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:[^`\\]|\\.)*`'
    rb"|[{}\[\]:,]|!0|!1|null|-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[A-Za-z_$][\w$]*"
)
_JSON = {b"!0": b"true", b"!1": b"false", b"null": b"null"}

# pi names a few providers otherwise than models.dev, and has some that are none there.
_PI_NAMES = {"fireworks": "fireworks-ai", "together": "togetherai", "vercel-ai-gateway": "vercel"}
_PI_COSTS = {"input": "input", "output": "output", "cacheRead": "cache_read", "cacheWrite": "cache_write"}


def from_opencode(package: Path) -> dict[str, Any]:
    """The models.dev data inside opencode's program, as JSON."""
    with tarfile.open(package) as archive:
        member = archive.extractfile("package/bin/opencode")
        if member is None:
            raise SystemExit(f"{package} holds no program.")
        program = member.read()
    begin = _BEGIN.search(program)
    if begin is None:
        raise SystemExit(f"The program in {package} holds no model data in the known form.")
    found: dict[str, Any] = json.loads(b"".join(_as_json(program, begin.start() - 1)))
    return found


def _as_json(text: bytes, at: int) -> Iterator[bytes]:
    """The literal that begins at `at`, token by token."""
    depth = 0
    while token := _TOKEN.match(text, at):
        word, at = token.group(), token.end()
        depth += (word in (b"{", b"[")) - (word in (b"}", b"]"))
        yield _JSON.get(word) or _translated(word)
        if depth == 0:
            return
    raise SystemExit(f"Not a literal: {text[at : at + 60]!r}")


def _translated(word: bytes) -> bytes:
    match word[:1]:
        case b'"' | b"'" | b"`":
            inner = re.sub(rb"\\x([0-9a-fA-F]{2})", rb"\\u00\1", word[1:-1])
            inner = re.sub(rb"\\(['`$])", rb"\1", inner)
            return b'"' + (inner if word[:1] == b'"' else inner.replace(b'"', b'\\"').replace(b"\n", b"\\n")) + b'"'
        case b".":
            return b"0" + word
        case first if first.isalpha() or first in b"_$":
            return b'"' + word + b'"'
        case _:
            return word


def from_pi(package: Path) -> tuple[str, dict[str, dict[str, dict[str, Any]]]]:
    """When pi's data was made, and its models by provider and name."""
    folder = "package/dist/providers/data/"
    models: dict[str, dict[str, dict[str, Any]]] = {}
    with tarfile.open(package) as archive:
        files = {info.name: info for info in archive if info.name.startswith(folder)}
        documents = {name.removeprefix(folder): json.load(archive.extractfile(info)) for name, info in files.items()}  # type: ignore[arg-type]
    made = documents.pop(".manifest.json")["generatedAt"][:10]
    for file, families in documents.items():
        name = file.removesuffix(".json")
        rows = [row for family in families.values() for row in family.values() if row["type"] == "chat"]
        models[_PI_NAMES.get(name, name)] = {row["id"]: _of_pi(row) for row in rows}
    return made, models


def _of_pi(row: Mapping[str, Any]) -> dict[str, Any]:
    """In models.dev's words. pi writes 0 for a cache price that is not known."""
    return {
        "name": row["name"],
        "reasoning": row["reasoning"],
        "tool_call": True,
        "modalities": {"input": row["input"], "output": ["text"]},
        "limit": {"context": row["contextWindow"], "output": row["maxTokens"]},
        "cost": _cost(row["cost"])
        | {
            "tiers": [
                _cost(tier) | {"tier": {"size": tier["inputTokensAbove"]}} for tier in row["cost"].get("tiers", ())
            ]
        },
    }


def _cost(cost: Mapping[str, float]) -> dict[str, Any]:
    always = ("input", "output")
    return {ours: cost[theirs] for theirs, ours in _PI_COSTS.items() if ours in always or cost[theirs]}


def joined(base: dict[str, Any], newer: Mapping[str, Mapping[str, dict[str, Any]]]) -> dict[str, Any]:
    """The base, with newer prices, and with models that came since. Sizes stay: pi's are sometimes its own choice."""
    for provider, models in newer.items():
        if provider not in base:
            continue
        known = base[provider]["models"]
        for name, facts in models.items():
            is_free = not (facts["cost"]["input"] or facts["cost"]["output"])
            if name not in known:
                known[name] = facts if not is_free or name.endswith(":free") else facts | {"cost": None}
            elif not is_free:
                old = known[name].get("cost") or {}
                known[name]["cost"] = {key: old[key] for key in ("cache_read", "cache_write") if key in old} | facts[
                    "cost"
                ]
    return base


def overridden(base: dict[str, Any]) -> dict[str, Any]:
    """The facts, corrected. An override of what is no longer there is an error."""
    for provider, models in json.loads(OVERRIDES.read_text(encoding="utf-8")).items():
        for name, correction in models.items():
            known = base[provider]["models"][name]
            for part in ("limit", "cost"):
                known[part] = (known.get(part) or {}) | correction.get(part, {})
    return base


def _collected(arguments: argparse.Namespace) -> tuple[bytes, list[str]]:
    if arguments.api:
        address = arguments.api
        document = urlopen(address).read() if "://" in address else Path(address).read_bytes()
        return document, [address]
    base, sources = from_opencode(arguments.opencode), [f"models.dev, as compiled into {arguments.opencode.stem}"]
    if arguments.pi:
        made, newer = from_pi(arguments.pi)
        base = joined(base, newer)
        sources.append(f"prices of {made} in {arguments.pi.stem}")
    return json.dumps(base).encode(), sources


def main(words: list[str]) -> int:
    """Write the file, and say what is in it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--api", metavar="URL|FILE", help="models.dev's api.json")
    parser.add_argument("--opencode", type=Path, metavar="FILE", help="the npm package opencode-linux-x64")
    parser.add_argument("--pi", type=Path, metavar="FILE", help="the npm package @earendil-works/pi-ai")
    parser.add_argument("--made", required=True, metavar="DATE", help="the date of the newest facts, YYYY-MM-DD")
    arguments = parser.parse_args(words)
    if bool(arguments.api) == bool(arguments.opencode):
        parser.error("name --api, or else --opencode and --pi")
    document, sources = _collected(arguments)
    corrected = json.dumps(overridden(json.loads(document))).encode()
    BUNDLED.write_bytes(pack_catalogue(corrected, arguments.made, tuple(sources)))
    file = CatalogueFile.open(BUNDLED)
    if file is None:
        raise SystemExit("The file that was written cannot be read.")
    models = sum(len(list(file.names(provider))) for provider in file.contents.providers)
    print(f"{BUNDLED.stat().st_size:,} bytes: {models:,} models of {len(file.contents.providers)} providers")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except msgspec.MsgspecError as error:
        sys.exit(f"Not in the form of models.dev: {error}")
