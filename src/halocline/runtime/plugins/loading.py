"""The code of plug-ins: tools and hooks, made by the very decorators that programs use, and providers of models.

What must stay true: code is loaded from the copy that was trusted, once for each state. A plug-in that fails is named
and left out, and so is a tool that its manifest does not cover, or whose name is taken.
"""

import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from halocline.ports.model import BroughtProvider
from halocline.ports.tool import FunctionTool
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events.hooks import HookSource
from halocline.protocol.events.plugins import Plugin
from halocline.providers.catalog.vendors import VENDORS
from halocline.runtime.parts.hook_functions import read_hooks
from halocline.runtime.parts.program_parts import PluginParts, ProgramHook
from halocline.runtime.plugins.in_force import left_out
from halocline.runtime.rules.tool_patterns import why_taken

HOOKS, PROVIDERS = "hooks", "providers"
"""Names in a plug-in's module: a mapping as in `halocline.run(hooks=…)`; one from names of providers to what opens a
model of theirs by its name, a function or a class."""


def load_parts(plugins: Iterable[Plugin], remarks: Iterable[str] = ()) -> PluginParts:
    """Return plug-ins with their functions. One whose code fails is left out as a whole."""
    kept, tools, hooks, said = list[Plugin](), dict[str, FunctionTool](), list[ProgramHook](), [*remarks]
    providers: dict[str, BroughtProvider] = {}
    for plugin in plugins:
        try:
            module = _load_module(plugin)
            hooks += _read_hooks(plugin, module)
        except HaloclineError as error:
            said.append(left_out(plugin.name, f"{error.text} {error.hint}".strip().rstrip(".")))
            continue
        except (Exception, SystemExit) as error:  # whatever its code does, it ends no task
            said.append(left_out(plugin.name, f"its code failed: {type(error).__name__}: {error}"))
            continue
        kept.append(plugin)
        for name, opens in _list_providers(plugin, module):
            if why := _why_no_provider(plugin, name, opens, providers):
                said.append(f"The provider {name} of the plug-in {plugin.name} is left out: {why}.")
            else:
                providers[name] = BroughtProvider(opens, plugin.name, _name_models(opens))
        for tool in _list_tools(module):
            if why := _why_not(plugin, tool, tools):
                said.append(f"The tool {tool.definition.name} of the plug-in {plugin.name} is left out: {why}.")
            elif plugin.has("tool", tool.definition.name):
                tools[tool.definition.name] = tool
    return PluginParts(tuple(kept), tuple(tools.values()), tuple(hooks), providers, tuple(said))


def _load_module(plugin: Plugin) -> ModuleType | None:
    """Load a plug-in's module from its copy; None if it has none. Raises what its code raises."""
    file = next(plugin.paths("tool"), "")
    if not file:
        return None
    name = f"halocline_plugin_{plugin.digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    # It is a package whose folder is the plug-in, so that it can import what is beside it.
    spec = spec_from_file_location(name, file, submodule_search_locations=[file.rpartition("/")[0]])
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        with redirect_stdout(sys.stderr):  # what an editor reads on standard output is not the plug-in's to write
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _list_tools(module: ModuleType | None) -> list[FunctionTool]:
    return [value for value in vars(module).values() if isinstance(value, FunctionTool)] if module else []


def _read_hooks(plugin: Plugin, module: ModuleType | None) -> list[ProgramHook]:
    """Return the hooks of a module. Raises UsageError if one is none."""
    given = getattr(module, HOOKS, {})
    place = f"(the plug-in {plugin.name})"
    return [
        replace(hook, name=f"{hook.name} {place}", place=place, source=HookSource.PLUGIN)
        for hook in (read_hooks(given) if isinstance(given, Mapping) else ())
        if plugin.has("hook", hook.moment.value)
    ]


def _list_providers(plugin: Plugin, module: ModuleType | None) -> list[tuple[str, Any]]:
    given = getattr(module, PROVIDERS, {})
    return [one for one in given.items() if plugin.has("provider", str(one[0]))] if isinstance(given, Mapping) else []


def _name_models(opens: object) -> tuple[str, ...]:
    """Return the models that a provider names in its attribute `models`."""
    given = getattr(opens, "models", ())
    return tuple(filter(None, map(str, given))) if isinstance(given, tuple | list) else ()


def _why_no_provider(plugin: Plugin, name: str, opens: object, others: Mapping[str, BroughtProvider]) -> str:
    """Say why a provider cannot be offered; empty if it can."""
    if not plugin.allows("network"):
        return "the plug-in's manifest does not declare 'network'"
    if name in VENDORS:
        return "Halocline has a provider of this name"
    if name in others:
        return "another plug-in has a provider of this name"
    return "" if callable(opens) else "it is no function that opens a model"


def _why_not(plugin: Plugin, tool: FunctionTool, others: Mapping[str, FunctionTool]) -> str:
    """Say why a tool cannot be offered; empty if it can."""
    definition = tool.definition
    if not plugin.allows(definition.effect):
        return f"its effect is {definition.effect or 'anything'!r}, which the plug-in's manifest does not declare"
    if definition.name in others and others[definition.name] is not tool:
        return "another plug-in has a tool of this name"
    return why_taken(definition.name).rstrip(".")
