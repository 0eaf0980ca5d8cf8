"""The rule files and the hooks of a folder, as lists."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from halocline.surfaces.sanitize import clean

if TYPE_CHECKING:
    from halocline.client.instructions import ListedInstruction
    from halocline.client.policy import Hook

NO_RULES = "No rules here. Create one: halo rules new NAME. Possible places: halo rules list --all"
NO_HOOKS = "No hooks. To add some, see docs/guide/hooks.md."


def describe_files(files: Sequence["ListedInstruction"]) -> str:
    """List the files, and when each applies."""
    return "\n".join(line for file in files for line in _file_lines(file)) or NO_RULES


def _file_lines(file: "ListedInstruction") -> Iterator[str]:
    state = f"does not apply: {file.inert}" if file.inert else f"{file.holds} · {file.size:,} characters"
    yield clean(file.path)
    yield f"    {file.of}, {clean(' '.join(state.split()))}"
    for remark in file.remarks:
        yield f"    note: {clean(' '.join(remark.split()))}"


def describe_hooks(hooks: Sequence["Hook"]) -> str:
    """List the hooks, and which of them run."""
    # One entry of a file may serve two of our hook points.
    return "\n".join(dict.fromkeys(map(_describe_hook, hooks))) or NO_HOOKS


def _describe_hook(hook: "Hook") -> str:
    broken = f"fails: {hook.broken}" if hook.broken else "active"
    state = f"inactive: {hook.inert}" if hook.inert else broken
    where = f" [{hook.matcher}]" if hook.matcher else ""
    first = f"{clean(hook.event or '?')}{clean(where)}  {' '.join(clean(hook.name).split())}"
    return f"{first}\n    {hook.source}, {clean(hook.file)} · {clean(state)}"
