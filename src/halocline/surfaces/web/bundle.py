"""Bundles the scripts and styles of a first visit into one file each, as many small responses take longer.

The modules are those of `static/`, unchanged except for their imports and exports, in order of dependency. Modules
loaded later still import each by its name and get a stub that re-exports from the bundle, so a module runs once.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

BEGINS = "js/app.js"
SCRIPT, STYLE = "first.js", "first.css"
STYLES = ("css/base.css", "css/shell.css", "css/composer.css")

Read = Callable[[str], str]
"""Reads the text of a file below `static/`."""

_FROM = r"""from\s*['"](\.[^'"]+)['"];?"""
_IMPORT = re.compile(r"\bimport\s*(?:\b(\w+)\s*)?,?\s*(?:\{([^}]*)\})?\s*" + _FROM)
_HANDED_ON = re.compile(r"export\s*\{([^}]*)\}\s*" + _FROM)
_NAMED = re.compile(r"export\s*\{([^}]*)\};?")
_DECLARED = re.compile(r"export\s+((?:const|class|(?:async\s+)?function)\s+(\w+))")
_DEFAULT = re.compile(r"export default function\s*(\w*)\s*\(")
_LATER = re.compile(r"""import\((['"`])(\.[^'"`]+)""")
_LEFT = re.compile(r"^(?:import|export)\b(?!\()", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Module:
    """One bundled module; `exports` maps names to the expressions of their values."""

    name: str
    needs: tuple[str, ...]
    body: str
    exports: Mapping[str, str]


def bundle_modules(read: Read) -> dict[str, str]:
    """Return files by name: both bundles, and a stub for each bundled module."""
    modules = _in_order(read)
    script = "\n".join(map(_module_place, modules.values()))
    stands_in = {name: _stand_in(module) for name, module in modules.items() if name != BEGINS}
    whole = f"{script}\nexport {{ {', '.join(map(place_of, modules))} }}\n"
    return {**stands_in, SCRIPT: whole, STYLE: "".join(read(name) for name in STYLES)}


def _in_order(read: Read) -> dict[str, Module]:
    """Return the modules that `BEGINS` imports statically, each after its own imports."""
    found: dict[str, Module] = {}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"{name} imports itself through {' and '.join(above)}")
        if name in found:
            return
        module = taken_apart(name, read(name))
        for needed in module.needs:
            add(needed, (*above, name))
        found[name] = module

    add(BEGINS, ())
    return found


def taken_apart(name: str, text: str) -> Module:
    """Parse a module into its body, imports and exports.

    Raises: ValueError for unknown forms of import or export.
    """
    needs: list[str] = []
    exports: dict[str, str] = {}

    def beside(written: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(name), written))

    def place(written: str) -> str:
        needs.append(beside(written))
        return place_of(needs[-1])

    def imported(found: re.Match[str]) -> str:
        default, names, written = found.groups()
        wanted = [f"default: {default}"] if default else []
        wanted += [f"{one}: {here}" if one != here else one for one, here in _import_pairs(names or "")]
        return f"const {{ {', '.join(wanted)} }} = {place(written)};"

    def handed_on(found: re.Match[str]) -> str:
        there = place(found[2])
        exports.update({out: f"{there}.{one}" for one, out in _import_pairs(found[1])})
        return ""

    def named(found: re.Match[str]) -> str:
        exports.update({out: one for one, out in _import_pairs(found[1])})
        return ""

    def declared(found: re.Match[str]) -> str:
        exports[found[2]] = found[2]
        return found[1]

    def default(found: re.Match[str]) -> str:
        exports["default"] = found[1] or "$default"
        return f"function {exports['default']}("

    def later(found: re.Match[str]) -> str:
        return f"import({found[1]}/static/{beside(found[2])}"

    body = text
    for form, change in (
        (_IMPORT, imported),
        (_HANDED_ON, handed_on),
        (_NAMED, named),
        (_DEFAULT, default),
        (_DECLARED, declared),
        (_LATER, later),
    ):
        body = form.sub(change, body)
    if left := _LEFT.search(body):
        raise ValueError(f"{name} imports or exports in a form that cannot be bundled: {body[left.start() :][:80]!r}")
    return Module(name, tuple(dict.fromkeys(needs)), body, exports)


def _import_pairs(names: str) -> list[tuple[str, str]]:
    """Parse `a as b, c` into (a, b), (c, c)."""
    words = [one.split() for one in names.split(",") if one.strip()]
    return [(word[0], word[-1]) for word in words]


def place_of(name: str) -> str:
    """Return a module's identifier in the bundle."""
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _module_place(module: Module) -> str:
    given = ", ".join(out if out == one else f"{out}: {one}" for out, one in module.exports.items())
    return f"// {module.name}\nconst {place_of(module.name)} = (() => {{\n{module.body}\nreturn {{ {given} }}\n}})()"


def _stand_in(module: Module) -> str:
    names = [name for name in module.exports if name != "default"]
    lines = [f"import {{ {place_of(module.name)} as it }} from '/static/{SCRIPT}'"]
    if names:
        lines.append(f"export const {{ {', '.join(names)} }} = it")
    if "default" in module.exports:
        lines.append("export default it.default")
    return "\n".join(lines) + "\n"
