"""Agents defined in files: name, description, tools, skills and system prompt.

What must stay true: everything in a file is honored or reported in a remark, never silently ignored; a sub-agent only
reads, whatever its file says. A file of the project does not lead out of it by a link.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.context.file_walk import find_files
from halocline.context.instructions.markdown_head import read_fields, split_head
from halocline.context.text_files import load_text
from halocline.context.user_files.skills import Skill
from halocline.protocol.config_locations import AGENT_ROWS, Dialect, Row
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.events.subagents import AgentLine
from halocline.protocol.values import Value

MOST = 50
LONGEST_NAME = 64
LONGEST_FILE = 100_000
LINE = 200
"""Characters of a description in the tool's list of agents."""
LISTED = 20
"""Agents listed in the tool's description."""

READS = ("read_file", "list_files", "search_files", "list_code_definition_names", "execute_command")
"""Tools of a sub-agent without a file, besides the one for skills; only read-only commands run."""
MORE = ("web_fetch", "web_search")
"""Further tools that a file may name; calls that need approval are refused, as no one can answer."""
FINISHING = "attempt_completion"
SKILLS = "use_skill"
_OURS = {
    **dict.fromkeys(("read", "read_files"), ("read_file",)),
    **dict.fromkeys(("ls", "list_directory", "list"), ("list_files",)),
    "glob": ("list_files", "search_files"),
    **dict.fromkeys(("grep", "search_codebase", "search", "codebase"), ("search_files",)),
    **dict.fromkeys(("bash", "run_command", "run_commands", "execute", "shell"), ("execute_command",)),
    **dict.fromkeys(("skill", "skills"), (SKILLS,)),
    **dict.fromkeys(("webfetch", "fetch_web_content", "fetch"), ("web_fetch",)),
    "websearch": ("web_search",),
    "web": ("web_fetch", "web_search"),
    **{name: (name,) for name in (*READS, *MORE, SKILLS)},
}
"""Our tools for the names that other programs use."""
_ALWAYS = frozenset({FINISHING, "attempt_completion", "submit_and_exit"})
_SAME_MODEL = frozenset({"", "inherit", "default"})
_NAMED_BY_FILE: frozenset[Dialect] = frozenset({"opencode", "cursor", "copilot"})
_OWN_MODELS: frozenset[Dialect] = frozenset({"cursor", "copilot"})
"""Programs whose names of models mean nothing elsewhere."""


class Agent(Value, frozen=True):
    """One agent. `file` defines it; `own` if that is the user's file. Without `tools` it gets the default ones.

    `skills` are loaded from the start (None: it may use any). `remarks` name what the file asks for and does not get.
    """

    name: str
    description: str
    prompt: str
    file: str
    own: bool = False
    tools: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    model: str = ""
    steps: int | None = None
    remarks: tuple[str, ...] = ()

    @property
    def line(self) -> AgentLine:
        """The entry in the tool's list of agents."""
        words = " ".join(self.description.split())
        return AgentLine(self.name, words if len(words) <= LINE else f"{words[: LINE - 1]}…")


class Found(Value, frozen=True):
    """The agents by name, and a remark on each file, or part of one, that is ignored."""

    agents: tuple[Agent, ...] = ()
    remarks: tuple[str, ...] = ()

    def named(self, name: str) -> Agent | None:
        return next((agent for agent in self.agents if agent.name == name), None)


class _Invalid(Exception):
    """Raised for a file that does not define an agent, with the reason."""


def found_agents(
    workspace: Path,
    own: Path,
    home: Path | None = None,
    roots: Sequence[str | Path] = (),
    plugins: Sequence[Plugin] = (),
) -> Found:
    """Look for agents in the folder `own`, the home folder, the workspace and a task's other folders.

    The first of a name wins. Those of plug-ins have the names of both.
    """
    agents: dict[str, Agent] = {}
    remarks: list[str] = []
    for row, folder, within in _list_folders(workspace, own, home or Path.home(), roots):
        for file in islice(find_files(folder, row.endings, within=within), MOST):
            try:
                agent = _read_agent(file, within, row)
            except _Invalid as why:
                remarks.append(f"The agent {file} is ignored: {why}")
                continue
            if agents.setdefault(agent.name, agent) is agent:
                remarks += [f"The agent {agent.name} ({file}): {remark}" for remark in agent.remarks]
    for plugin in plugins:
        _add_of_plugin(plugin, agents, remarks)
    return Found(tuple(agents[name] for name in sorted(agents))[:MOST], tuple(remarks))


def _add_of_plugin(plugin: Plugin, agents: dict[str, Agent], remarks: list[str]) -> None:
    row = Row("", "", plugin.name, plugin.dialect, (".md",), "agents")
    for place in map(Path, plugin.paths("agent")):
        for file in [place] if place.is_file() else islice(find_files(place, row.endings, within=plugin.folder), MOST):
            try:
                agent = _read_agent(file, os.path.realpath(plugin.folder), row)
            except _Invalid as why:
                remarks.append(f"The agent {file.name} of the plug-in {plugin.name} is ignored: {why}")
                continue
            if plugin.has("agent", agent.name):
                agents[plugin.named(agent.name)] = replace(agent, name=plugin.named(agent.name))


def tools_of(agent: Agent | None, skills: tuple[Skill, ...]) -> tuple[str, ...]:
    """Return the tools that a sub-agent is offered."""
    chosen = (*READS, SKILLS) if agent is None or agent.tools is None else agent.tools
    preloaded = agent is not None and agent.skills is not None
    return (*(name for name in chosen if name != SKILLS or (skills and not preloaded)), FINISHING)


def _list_folders(
    workspace: Path, own: Path, home: Path, roots: Sequence[str | Path]
) -> Iterator[tuple[Row, Path, str]]:
    """Yield the folders to look into, with what they hold, and the folder that their files may not lead out of."""
    for row in AGENT_ROWS:
        top = home if row.root else workspace
        folder = own if row.root == "~/.halocline" else top / row.path
        yield row, folder, "" if row.root else os.path.realpath(workspace)
    for root in map(Path, roots):
        yield from ((row, root / row.path, os.path.realpath(root)) for row in AGENT_ROWS if not row.root)


def _read_agent(file: Path, within: str, row: Row) -> Agent:
    if within and not os.path.realpath(file).startswith(f"{within}/"):
        raise _Invalid("it is a link that leads out of the project.")
    try:
        read = load_text(file, LONGEST_FILE)
    except OSError as error:
        raise _Invalid(f"it cannot be read ({error.strerror}).") from error
    if read.is_cut:
        raise _Invalid(f"it is longer than {LONGEST_FILE:,} bytes.")
    head, body = split_head(read.text)
    given = fit_head(row.dialect, _parse_head(head), file)
    if given.get("mode") == "primary":
        raise _Invalid("its mode is primary, so it is not meant as a sub-agent.")
    return _build_agent(file, given, body.strip(), own=not within)


def _parse_head(text: str) -> dict[str, Any]:
    from msgspec import yaml

    try:
        given = yaml.decode(text)
    except (msgspec.DecodeError, ValueError, TypeError, LookupError, RecursionError):
        given = dict(read_fields(text))  # descriptions with a colon are not YAML, but common
    if not isinstance(given, dict):
        raise _Invalid("its front matter needs a name and a description.")
    return {str(key).lower().replace("_", ""): value for key, value in given.items()}


def _build_agent(file: Path, given: Mapping[str, Any], prompt: str, *, own: bool) -> Agent:
    name, description = str(given.get("name") or "").strip(), str(given.get("description") or "").strip()
    if not re.fullmatch(r"[\w][\w .:-]*", name) or len(name) > LONGEST_NAME:
        raise _Invalid(f"its front matter needs a name of up to {LONGEST_NAME} letters, digits and dashes.")
    if not description:
        raise _Invalid("its front matter needs a description.")
    if not prompt:
        raise _Invalid("it has no system prompt below its front matter.")
    tools, unknown = _read_tools(given)
    if tools == ():
        raise _Invalid(f"sub-agents are read-only and cannot have any of its tools ({', '.join(unknown)}).")
    return Agent(
        name=name,
        description=description,
        prompt=prompt,
        file=str(file),
        own=own,
        tools=tools,
        skills=_split_names(given["skills"]) if given.get("skills") else None,
        model=_read_model(given),
        steps=_read_steps(given.get("maxturns")),
        remarks=(
            *((f"these tools are not available to sub-agents: {', '.join(unknown)}",) if unknown else ()),
            *(
                (f"the model {given['othermodel']} is another program's name; it uses yours",)
                if given.get("othermodel")
                else ()
            ),
        ),
    )


def _read_tools(given: Mapping[str, Any]) -> tuple[tuple[str, ...] | None, list[str]]:
    """Return the tools that a file allows (None if it does not say), and those that are not available."""
    refused = {name for said in _split_names(given.get("disallowedtools")) for name in _OURS.get(said.lower(), ())}
    said = given.get("tools")
    if said in (None, "", "*", ["*"]):
        return (tuple(name for name in (*READS, SKILLS) if name not in refused) if refused else None), []
    wanted = [name for name in _split_names(said) if name.lower() not in _ALWAYS]
    known = dict.fromkeys(name for each in wanted for name in _OURS.get(_bare_name(each), ()))
    return tuple(name for name in known if name not in refused), [one for one in wanted if _bare_name(one) not in _OURS]


def _bare_name(name: str) -> str:
    """Drop a pattern in brackets, as in `Bash(git log:*)`: the gate decides what commands may do."""
    return name.partition("(")[0].strip().lower()


def _split_names(said: object) -> tuple[str, ...]:
    """Split a list, or comma-separated names (commas in brackets do not separate)."""
    words = said if isinstance(said, list) else re.split(r",(?![^(]*\))", str(said or "").strip("[]"))
    return tuple(filter(None, (str(word).strip().strip("\"'") for word in words)))


def _read_model(given: Mapping[str, Any]) -> str:
    model = str(given.get("model") or given.get("modelid") or "").strip()
    provider = str(given.get("provider") or given.get("providerid") or "").strip()
    if model.lower() in _SAME_MODEL:
        return ""
    return f"{provider}/{model}" if provider and "/" not in model else model


def _read_steps(said: object) -> int | None:
    text = str(said or "").strip()
    return int(text) if text.isdecimal() and int(text) > 0 else None


def fit_head(dialect: Dialect, given: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return front matter with the keys of Claude Code. A model that only its own program knows is `othermodel`."""
    fitted = dict(given)
    if dialect in _NAMED_BY_FILE and (dialect == "opencode" or not fitted.get("name")):
        fitted["name"] = file.stem.removesuffix(".agent")
    if dialect in _OWN_MODELS and fitted.get("model") not in (None, "", "inherit"):
        fitted["othermodel"] = fitted.pop("model")
    if isinstance(tools := fitted.get("tools"), Mapping):
        fitted.pop("tools")
        fitted["disallowedtools"] = [str(name) for name, allowed in tools.items() if allowed is False]
    if dialect == "opencode" and "steps" in fitted:
        fitted["maxturns"] = fitted.pop("steps")
    return fitted
