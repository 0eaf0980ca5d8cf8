"""Choose the model of an agent: the one its file names, if the file may choose it, else the task's.

What must stay true: a project's file chooses only among models of the provider that the person uses; it cannot send
files to another provider.
"""

import re

from halocline.context.user_files.agents import Agent
from halocline.protocol.errors import UsageError
from halocline.providers.catalog.file import Catalogue
from halocline.runtime.models.vendors import find_model_facts, find_vendor
from halocline.store.settings.settings import Settings

ALIASES = ("haiku", "sonnet", "opus", "fable")
"""Names that mean the newest model of a family in Claude Code's files."""
DATED = 1_000
"""A part of a version this large is a date."""


def chosen_model(agent: Agent | None, now: str, settings: Settings, catalogue: Catalogue) -> tuple[str, str]:
    """Return the agent's model, and why it is not the one its file names (or empty). `now` is the task's model."""
    if agent is None or not agent.model:
        return now, ""
    provider = now.partition("/")[0]
    if "/" not in agent.model:
        return _of_provider(provider, agent.model, now, settings, catalogue)
    wanted = agent.model.partition("/")[0]
    if wanted == provider or agent.own:
        return agent.model, ""
    return now, f"an agent file of a project may not switch to {wanted}, a provider you do not use in this task"


def _of_provider(provider: str, name: str, now: str, settings: Settings, catalogue: Catalogue) -> tuple[str, str]:
    """Resolve a model named without its provider: one of the provider's, or the newest of a family."""
    if name.lower() in ALIASES:
        found = newest_model(name.lower(), _list_names(provider, settings, catalogue))
        return (f"{provider}/{found}", "") if found else (now, f"{provider} has no known model {name!r}")
    known = find_model_facts(f"{provider}/{name}", settings, catalogue)
    if known.window or known.prices:
        return f"{provider}/{name}", ""
    return now, f"{provider} has no known model {name!r}; write it as provider/model"


def newest_model(alias: str, names: list[str]) -> str:
    """Return the model of a family with the highest version; empty if there is none."""
    found = [(_read_version(name), name) for name in names if re.search(rf"claude-{alias}-\d[\d.-]*$", name)]
    return max(((version, name) for version, name in found if max(version) < DATED), default=((), ""))[1]


def _read_version(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name.rpartition("claude-")[2])))


def _list_names(provider: str, settings: Settings, catalogue: Catalogue) -> list[str]:
    try:
        return catalogue.names(find_vendor(provider, settings, catalogue).catalogue or provider)
    except UsageError:
        return []
