"""Installable servers from the MCP registry, or any catalog of the same format at a URL or in a file.

What must stay true: registry data is untrusted. It becomes arguments of a command, never a shell line, and a person
sees the exact command before anything is written.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from halocline.mcp.registry.download import Reach, fetch_bytes
from halocline.mcp.tool_names import plain_text
from halocline.protocol import json_input
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.events.mcp import Order
from halocline.protocol.values import JsonObject, Value

LARGEST = 8_000_000
LONGEST_PAGE = 60_000
MOST_FOUND = 30
OFFICIAL = "io.modelcontextprotocol.registry/official"
PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
RUNNERS = {
    "npm": ("npx", "-y", "{name}@{version}"),
    "pypi": ("uvx", "{name}@{version}"),
    "oci": ("docker", "run", "-i", "--rm", "{name}:{version}"),
    "nuget": ("dnx", "{name}@{version}", "--yes"),
}
"""The command that runs a package, by registry type."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_.-]+)\}")
MOST_TAGS = 12
TAGS = ("category", "categories", "tags", "keywords")
STARS = ("stars", "githubStars", "stargazer_count")
DOWNLOADS = ("downloads", "downloadCount", "installs", "installCount")
CHANGED = ("updatedAt", "publishedAt", "createdAt")


def read_popularity(places: Sequence[JsonObject]) -> JsonObject:
    """Collect these fields of a server from its tables, under whatever names."""
    tables = [table for place in places for table in (place, place.get("github")) if isinstance(table, dict)]
    return {
        "tags": _read_tags(tables),
        "stars": _read_count(tables, STARS),
        "downloads": _read_count(tables, DOWNLOADS),
        "changedAt": plain_text(next((at for at in _find_values(tables, CHANGED) if isinstance(at, str)), ""), 40),
    }


def _read_tags(tables: Sequence[JsonObject]) -> list[str]:
    found: dict[str, None] = {}
    for value in _find_values(tables, TAGS):
        for tag in (value,) if isinstance(value, str) else value if isinstance(value, list) else ():
            found.setdefault(plain_text(str(tag), 40))
    return list(found)[:MOST_TAGS]


def _read_count(tables: Sequence[JsonObject], names: Sequence[str]) -> int:
    counts = (value for value in _find_values(tables, names) if isinstance(value, int) and not isinstance(value, bool))
    return max((count for count in counts if 0 <= count < 2**53), default=0)


def _find_values(tables: Sequence[JsonObject], names: Sequence[str]) -> Iterator[object]:
    for name in names:
        for table in tables:
            if table.get(name):
                yield table[name]


class _Input(Value, frozen=True, rename="camel"):
    """A value that a server needs: an argument, a variable or a header."""

    name: str = ""
    description: str = ""
    value: str | None = None
    default: str | None = None
    value_hint: str = ""
    type: str = ""
    is_required: bool = False
    is_secret: bool = False


class _Transport(Value, frozen=True):
    type: str = "stdio"
    url: str = ""
    headers: tuple[_Input, ...] = ()


class _Package(Value, frozen=True, rename="camel"):
    registry_type: str = ""
    identifier: str = ""
    version: str = ""
    transport: _Transport = _Transport()
    runtime_arguments: tuple[_Input, ...] = ()
    package_arguments: tuple[_Input, ...] = ()
    environment_variables: tuple[_Input, ...] = ()
    file_sha256: str = msgspec.field(default="", name="fileSha256")


class _Repository(Value, frozen=True):
    url: str = ""
    subfolder: str = ""


class OfferedServer(Value, frozen=True, rename="camel"):
    """A server in a registry."""

    name: str
    description: str = ""
    title: str = ""
    version: str = ""
    website_url: str = ""
    readme: str = ""
    tags: tuple[str, ...] = ()
    stars: int = 0
    downloads: int = 0
    changed_at: str = ""
    is_deprecated: bool = False
    repository: _Repository | None = None
    packages: tuple[_Package, ...] = ()
    remotes: tuple[_Transport, ...] = ()

    @property
    def page(self) -> str:
        """The URL of its repository or website."""
        return (self.repository.url if self.repository else "") or self.website_url


class _Page(Value, frozen=True):
    servers: tuple[JsonObject, ...] = ()


class InstallOption(Value, frozen=True):
    """One way to install a server: its settings entry, and the values still needed with their descriptions.

    With a `bundle` (a URL) the entry is written after the download, whose hash must be `sha256`.
    """

    given: JsonObject
    wanted: tuple[tuple[str, str], ...] = ()
    bundle: str = ""
    sha256: str = ""


async def search_registry(
    registry: str, words: str, reach: Reach, tags: Sequence[str] = (), order: Order | None = None
) -> list[OfferedServer]:
    """Find servers that have all words in name, title or description, and all tags.

    Without `order` they come as the registry sorts them. Raises HaloclineError.
    """
    if registry.startswith(("http://", "https://")):
        data = await _fetch_page(registry, words, reach)
    else:
        data = await asyncio.to_thread(_read_file, registry)
    try:
        page = json_input.decode(data, type=_Page)
    except msgspec.MsgspecError as error:
        raise HaloclineError(f"{registry} did not answer like an MCP registry: {error}.") from error
    found: dict[str, OfferedServer] = {}
    for server in _list_servers(page.servers):
        found.setdefault(server.name, server)  # the newest version comes first
    wanted, tagged = words.lower().split(), {tag.lower() for tag in tags}
    fitting = [one for one in found.values() if _has_words(one, wanted) and tagged <= set(map(str.lower, one.tags))]
    return in_order(fitting, order)[:MOST_FOUND]


def in_order(servers: Sequence[OfferedServer], order: Order | None) -> list[OfferedServer]:
    """Sort servers; those without the value come last, in the registry's order."""
    if order is None:
        return [*servers]
    if order == "name":
        return sorted(servers, key=lambda one: (one.title or one.name.rpartition("/")[2]).lower())
    return sorted(servers, key=attrgetter("changed_at" if order == "newest" else order), reverse=True)


def list_install_options(server: OfferedServer, values: dict[str, str]) -> Iterator[InstallOption]:
    """Yield every supported way to run or reach a server, packages first. `values` fill in what it needs."""
    for package in server.packages:
        if package.registry_type == "mcpb" and package.identifier.startswith("https://") and package.file_sha256:
            yield InstallOption({}, bundle=package.identifier, sha256=package.file_sha256.lower())
        usable = package.transport.type == "stdio" and package.registry_type in RUNNERS and _is_plain(package)
        if usable and package.identifier and package.identifier[0] != "-":
            yield _package_option(package, values)
    for remote in server.remotes:
        if remote.url.startswith("https://") and _is_plain(remote):
            yield _remote_option(remote, values)


async def _fetch_page(registry: str, words: str, reach: Reach) -> bytes:
    address = urlsplit(registry)
    path = address.path if address.path.strip("/") else "/v0/servers"
    if path.endswith(".json"):  # a static file, which takes no query
        return await fetch_bytes(registry, reach, LARGEST, "application/json")
    query = "&".join(filter(None, (address.query, urlencode({"search": words, "limit": 100, "version": "latest"}))))
    return await fetch_bytes(f"{address.scheme}://{address.netloc}{path}?{query}", reach, LARGEST, "application/json")


def _read_file(file: str) -> bytes:
    try:
        return Path(file).expanduser().read_bytes()
    except OSError as error:
        raise UsageError(f"Cannot read the registry {file}: {error.strerror}.", "Check mcp.registry.") from error


def _list_servers(entries: Iterable[JsonObject]) -> Iterator[OfferedServer]:
    """Yield the servers of a page, without invalid and deleted ones."""
    for entry in entries:
        given: Any = entry.get("server", entry)
        if not isinstance(given, dict):
            continue
        metas = [meta for meta in (entry.get("_meta"), given.get("_meta")) if isinstance(meta, dict)]
        official: JsonObject = next((meta[OFFICIAL] for meta in metas if isinstance(meta.get(OFFICIAL), dict)), {})
        status = official.get("status") or given.get("status")
        if status == "deleted" or official.get("isLatest") is False:
            continue
        places = [entry, given, *(meta.get(PUBLISHER) for meta in metas)]
        tables: list[JsonObject] = [place for place in places if isinstance(place, dict)]
        more = {"isDeprecated": status == "deprecated", **read_popularity(tables)}
        more["changedAt"] = str(official.get("updatedAt") or official.get("publishedAt") or more["changedAt"])
        try:
            yield msgspec.convert({**given, **more}, OfferedServer)
        except msgspec.ValidationError:
            continue


def _is_plain(option: _Package | _Transport) -> bool:
    """True if it uses no `${VARIABLE}`: a registry must ask for values by name, not read your variables."""
    return b"${" not in msgspec.json.encode(option)


def _has_words(server: OfferedServer, words: Sequence[str]) -> bool:
    text = f"{server.name} {server.title} {server.description}".lower()
    return all(word in text for word in words)


def _package_option(package: _Package, values: dict[str, str]) -> InstallOption:
    wanted: dict[str, str] = {}
    program, *rest = RUNNERS[package.registry_type]
    has_version = package.registry_type == "oci" and ":" in package.identifier.rpartition("/")[2]
    version = "" if has_version else package.version
    parts = (part.format(name=package.identifier, version=version or "") for part in rest)
    runner = [part.removesuffix("@").removesuffix(":") for part in parts]
    before = [word for each in package.runtime_arguments for word in _argument_words(each, values, wanted)]
    after = [word for each in package.package_arguments for word in _argument_words(each, values, wanted)]
    env = {each.name: _value_of(each, values, wanted) for each in package.environment_variables if each.name}
    if package.registry_type == "oci":
        before += [word for name in env for word in ("-e", name)]
        args = [*runner[:-1], *before, runner[-1], *after]
    else:
        args = [*before, *(word for word in runner if word not in before), *after]
    given: JsonObject = {"command": program, "args": args}
    return InstallOption(given | ({"env": env} if env else {}), tuple(wanted.items()))


def _remote_option(remote: _Transport, values: dict[str, str]) -> InstallOption:
    wanted: dict[str, str] = {}
    kind = "sse" if remote.type == "sse" else "streamableHttp"
    headers = {each.name: _value_of(each, values, wanted) for each in remote.headers if each.name}
    given: JsonObject = {"type": kind, "url": _fill_text(remote.url, values, wanted)}
    return InstallOption(given | ({"headers": headers} if headers else {}), tuple(wanted.items()))


def _argument_words(argument: _Input, values: dict[str, str], wanted: dict[str, str]) -> Iterator[str]:
    """Yield an argument's words; an optional one without a value is left out."""
    known = argument.value if argument.value is not None else argument.default
    name = (argument.name or argument.value_hint).lstrip("-")
    if known is None and name in values:
        known = values[name]
    if argument.type == "named" and argument.name:
        if known is None and not argument.is_required and not argument.value_hint:
            return
        yield argument.name
        if known is None and not argument.value_hint:
            return
    elif known is None and not argument.is_required:
        return
    if known is None:
        wanted[name] = plain_text(argument.description, 200)
        yield f"${{{_variable_name(name)}}}"
    else:
        yield _fill_text(known, values, wanted)


def _value_of(each: _Input, values: dict[str, str], wanted: dict[str, str]) -> str:
    """Return the value of a variable or header. An unknown one becomes a variable, filled in at start."""
    if each.name in values:
        return values[each.name]
    if each.value is not None:
        return _fill_text(each.value, values, wanted)
    if each.default is not None and not each.is_secret:
        return each.default
    if each.is_required or each.is_secret:
        wanted[each.name] = plain_text(each.description, 200)
    return f"${{{_variable_name(each.name)}}}" if each.is_required else f"${{{_variable_name(each.name)}:-}}"


def _fill_text(text: str, values: dict[str, str], wanted: dict[str, str]) -> str:
    """Fill in a registry's placeholders, `{name}`; unknown ones become variables."""

    def one(match: "re.Match[str]") -> str:
        name = match[1]
        if name not in values:
            wanted.setdefault(name, "")
        return values.get(name, f"${{{_variable_name(name)}}}")

    return _PLACEHOLDER.sub(one, text)


def _variable_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name) if name[:1].isalpha() or name[:1] == "_" else f"V_{name}"


async def fetch_readme(server: OfferedServer, registry: str, reach: Reach, url: str = "") -> str:
    """Fetch and clean a server's README, for people and never for the model. `url` names another page.

    Raises HaloclineError.
    """
    if not url and server.readme and not server.readme.startswith(("http://", "https://")):
        return _make_harmless(server.readme)
    place = url or server.readme or page_of(server)
    if not place:
        return ""
    same = urlsplit(place)[:2] == urlsplit(registry)[:2]
    if not place.startswith("https://") and not same:
        raise HaloclineError(f"{place} was not fetched: only https is allowed.")
    return _make_harmless((await fetch_bytes(place, reach, LARGEST, "text/plain")).decode("utf-8", "replace"))


def page_of(server: OfferedServer) -> str:
    """Return the URL of a repository's README as raw text; empty when it is unknown."""
    repository = server.repository
    address = urlsplit(repository.url if repository else "")
    parts = address.path.strip("/").removesuffix(".git").split("/")
    if repository is None or address.scheme != "https" or len(parts) < 2:
        return ""
    inside = f"{repository.subfolder.strip('/')}/" if repository.subfolder else ""
    match address.hostname:
        case "github.com":
            return f"https://raw.githubusercontent.com/{parts[0]}/{parts[1]}/HEAD/{inside}README.md"
        case "gitlab.com":
            return f"https://gitlab.com/{'/'.join(parts)}/-/raw/HEAD/{inside}README.md"
    return ""


def _make_harmless(text: str) -> str:
    """Remove comments and invisible characters, and bound the length."""
    return plain_text(_COMMENT.sub("", text), LONGEST_PAGE)
