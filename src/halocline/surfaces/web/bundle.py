"""Bundles the page's scripts and styles, as many small responses take longer: one file a first visit, one a task,
one the pages and forms.

The modules are those of `static/` in order of dependency, unchanged except for their imports and exports, and for
comments on lines of their own, which would be a seventh of a first visit. Modules loaded later import from the bundles.
A bundled module that is asked for by its name re-exports from its bundle, so that no module runs twice.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

BUNDLES: Mapping[str, tuple[str, ...]] = {
    "first.js": ("js/app.js", "js/models/effort-menu.js"),
    "task.js": ("js/transcript/task-view.js", "js/transcript/offline-task.js"),
    "pages.js": ("js/shell/first-visit.js",),
}
"""The modules that each bundle begins from, and so those that they import. A module stands in the first that has it."""
SCRIPT, STYLE = "first.js", "first.css"
STYLES = ("js/lib/base.css", "js/shell/shell.css", "js/composer/composer.css")

AT_ONCE = 24_000
"""Characters of modules that run in one task of the browser; then it may draw and react to input before the next."""
PAUSE = "await (self.scheduler?.yield?.() ?? new Promise((next) => setTimeout(next)))"

Read = Callable[[str], str]
"""Reads the text of a file below `static/`."""

_FROM = r"""from\s*['"](\.[^'"]+)['"];?"""
_IMPORT = re.compile(r"(?<!@)\bimport\s*(?:\b(\w+)\s*)?,?\s*(?:\{([^}]*)\})?\s*" + _FROM)
_HANDED_ON = re.compile(r"export\s*\{([^}]*)\}\s*" + _FROM)
_NAMED = re.compile(r"export\s*\{([^}]*)\};?")
_DECLARED = re.compile(r"export\s+((?:const|class|(?:async\s+)?function)\s+(\w+))")
_DEFAULT = re.compile(r"export default function\s*(\w*)\s*\(")
_LATER = re.compile(r"""import\((['"`])(\.[^'"`]+)(?:\1\))?""")
_WAITS = re.compile(r"^await\b", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)(?:\n|\Z)", re.MULTILINE)
"""Comments on lines of their own. No template of the page has such a line."""
_LEFT = re.compile(r"^(?:import|export)\b(?!\()", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Module:
    """One bundled module; `exports` maps names to the expressions of their values."""

    name: str
    needs: tuple[str, ...]
    body: str
    exports: Mapping[str, str]


def bundle_modules(read: Read, others: Iterable[str] = ()) -> dict[str, str]:
    """Return files by name: the bundles, what re-exports from them, and `others` (modules) as they import from them."""
    places = _place_modules(read)
    modules = {name: parse_module(name, read(name), places) for name in places}
    scripts = {bundle: _write_bundle(bundle, modules, places) for bundle in BUNDLES}
    stubs = {name: _build_stub(module, places[name]) for name, module in modules.items()}
    linked = {name: link_module(name, read(name), places) for name in others if name not in places}
    return {**stubs, **linked, **scripts, STYLE: "".join(_COMMENT.sub("", read(name)) for name in STYLES)}


def _place_modules(read: Read) -> dict[str, str]:
    """Return the bundle of each bundled module, each module after its own imports."""
    places: dict[str, str] = {}

    def add(name: str, bundle: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"{name} imports itself through {' and '.join(above)}")
        if name in places:
            return
        for needed in list_imports(name, read(name)):
            add(needed, bundle, (*above, name))
        places[name] = bundle

    for bundle, entries in BUNDLES.items():
        for entry in entries:
            add(entry, bundle, ())
    return places


def list_imports(name: str, text: str) -> tuple[str, ...]:
    """Return the modules that a module imports or re-exports."""
    rewriter = _Rewriter(name, {})
    written = (*(found[3] for found in _IMPORT.finditer(text)), *(found[2] for found in _HANDED_ON.finditer(text)))
    return tuple(dict.fromkeys(map(rewriter.resolve_path, written)))


def parse_module(name: str, text: str, places: Mapping[str, str] | None = None) -> Module:
    """Parse a module into its body, imports and exports. `places` are the bundles of those that it imports later.

    Raises: ValueError for unknown forms of import or export.
    """
    rewriter = _Rewriter(name, places or {})
    body = rewriter.rewrite_body(text if name.startswith("vendor/") else _COMMENT.sub("", text))
    if left := _LEFT.search(body):
        raise ValueError(f"{name} imports or exports in a form that cannot be bundled: {body[left.start() :][:80]!r}")
    return Module(name, tuple(dict.fromkeys(rewriter.needs)), body, rewriter.exports)


def link_module(name: str, text: str, places: Mapping[str, str]) -> str:
    """Return a module that is loaded by itself: what it imports of bundled modules comes from their bundles."""
    rewriter = _Rewriter(name, places, is_alone=True)
    body = rewriter.rewrite_imports(text)
    return _import_bundled(name, dict.fromkeys(rewriter.needs), places) + body


@dataclass(slots=True)
class _Rewriter:
    """Replaces the imports and exports of one module, and collects them."""

    name: str
    places: Mapping[str, str]
    is_alone: bool = False
    """If true, the module stays a file of its own, so only what is bundled is imported in another way."""
    needs: list[str] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)

    def rewrite_body(self, text: str) -> str:
        text = self.rewrite_imports(text)
        for form, replace in (
            (_HANDED_ON, self._replace_reexport),
            (_NAMED, self._replace_export_list),
            (_DEFAULT, self._replace_default_export),
            (_DECLARED, self._replace_declaration),
        ):
            text = form.sub(replace, text)
        return text

    def rewrite_imports(self, text: str) -> str:
        return _LATER.sub(self._replace_dynamic_import, _IMPORT.sub(self._replace_import, text))

    def _replace_import(self, found: re.Match[str]) -> str:
        default, names, written = found.groups()
        if self.is_alone and self.resolve_path(written) not in self.places:
            return found[0]
        wanted = [f"default: {default}"] if default else []
        wanted += [f"{one}: {here}" if one != here else one for one, here in _import_pairs(names or "")]
        return f"const {{ {', '.join(wanted)} }} = {self._need_module(written)};"

    def _replace_reexport(self, found: re.Match[str]) -> str:
        there = self._need_module(found[2])
        self.exports.update({out: f"{there}.{one}" for one, out in _import_pairs(found[1])})
        return ""

    def _replace_export_list(self, found: re.Match[str]) -> str:
        self.exports.update({out: one for one, out in _import_pairs(found[1])})
        return ""

    def _replace_default_export(self, found: re.Match[str]) -> str:
        self.exports["default"] = found[1] or "$default"
        return f"function {self.exports['default']}("

    def _replace_declaration(self, found: re.Match[str]) -> str:
        self.exports[found[2]] = found[2]
        return found[1]

    def _replace_dynamic_import(self, found: re.Match[str]) -> str:
        path = self.resolve_path(found[2])
        up = _path_up(self.name) if self.is_alone else "./"  # a bundle is at the top of the folder
        if bundle := self.places.get(path):
            return f"import('{up}{bundle}').then((it) => it.{module_identifier(path)})"
        return found[0] if self.is_alone else found[0].replace(found[2], f"./{path}")

    def _need_module(self, written: str) -> str:
        """Note a module that is imported, and return its identifier."""
        self.needs.append(self.resolve_path(written))
        return module_identifier(self.needs[-1])

    def resolve_path(self, written: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.name), written))


def _import_pairs(names: str) -> list[tuple[str, str]]:
    """Parse `a as b, c` into (a, b), (c, c)."""
    words = [one.split() for one in names.split(",") if one.strip()]
    return [(word[0], word[-1]) for word in words]


def module_identifier(name: str) -> str:
    """Return a module's identifier in its bundle."""
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _path_up(name: str) -> str:
    """Return the path from a module to the top of the folder."""
    return "../" * name.count("/") or "./"


def _import_bundled(name: str, needs: Iterable[str], places: Mapping[str, str]) -> str:
    """Return the imports of these modules from their bundles, one line each bundle."""
    wanted: dict[str, list[str]] = {}
    for needed in needs:
        wanted.setdefault(places[needed], []).append(module_identifier(needed))
    lines = (f"import {{ {', '.join(them)} }} from '{_path_up(name)}{bundle}'\n" for bundle, them in wanted.items())
    return "".join(lines)


def _write_bundle(bundle: str, modules: Mapping[str, Module], places: Mapping[str, str]) -> str:
    own = [module for name, module in modules.items() if places[name] == bundle]
    others = dict.fromkeys(needed for module in own for needed in module.needs if places[needed] != bundle)
    names = ", ".join(module_identifier(module.name) for module in own)
    script = "\n".join(_with_pauses(map(_wrap_module, own)))
    return f"{_import_bundled(bundle, others, places)}{script}\nexport {{ {names} }}\n"


def _with_pauses(scripts: Iterable[str]) -> Iterator[str]:
    running = 0
    for script in scripts:
        if running and running + len(script) > AT_ONCE:
            running = 0
            yield PAUSE
        running += len(script)
        yield script


def _wrap_module(module: Module) -> str:
    given = ", ".join(out if out == one else f"{out}: {one}" for out, one in module.exports.items())
    identifier = module_identifier(module.name)
    begin = "await (async () => {" if _WAITS.search(module.body) else "(() => {"
    return f"// {module.name}\nconst {identifier} = {begin}\n{module.body}\nreturn {{ {given} }}\n}})()"


def _build_stub(module: Module, bundle: str) -> str:
    names = [name for name in module.exports if name != "default"]
    lines = [f"import {{ {module_identifier(module.name)} as it }} from '{_path_up(module.name)}{bundle}'"]
    if names:
        lines.append(f"export const {{ {', '.join(names)} }} = it")
    if "default" in module.exports:
        lines.append("export default it.default")
    return "\n".join(lines) + "\n"
