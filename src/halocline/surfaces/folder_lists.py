"""The rule files, notes, hooks and plug-ins of a folder, and what was found of a setup, as lists."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from halocline.surfaces.sanitize import clean

if TYPE_CHECKING:
    from halocline.client.instructions import ListedInstruction, Memory, MemoryFile, MemoryNote
    from halocline.client.plugins import ListedPlugin
    from halocline.client.policy import Hook
    from halocline.client.settings import Finding

NO_RULES = "No rules here. Create one: halo rules new NAME. Possible places: halo rules list --all"
NO_HOOKS = "No hooks. To add some, see halo docs hooks."
NO_NOTES = "No notes yet. With memory on, tasks propose notes; to write your own: halo memory edit"
NO_PLUGINS = "No plug-ins. Install one: halo plugins install FOLDER"
LONGEST_LINE = 200
EFFECTS = {
    "reads": "reads files",
    "edits": "edits files",
    "network": "reaches the network",
    "commands": "runs commands",
}
SOURCES = {"yours": "yours", "package": "from an installed package", "project": "the project's"}


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


def describe_effects(may: Sequence[str] | None) -> str:
    """Say what a plug-in declares that it does."""
    if may is None:
        return "does not say what it does, so it may do anything"
    if not may:
        return "only adds text and colors"
    said = [EFFECTS.get(effect, effect) for effect in may]
    return " and ".join([", ".join(said[:-1]), said[-1]] if said[1:] else said)


def describe_plugins(plugins: "Sequence[ListedPlugin]") -> str:
    """List the plug-ins, and why one is not in force."""
    return "\n".join(map(_describe_plugin, plugins)) or NO_PLUGINS


def _describe_plugin(plugin: "ListedPlugin") -> str:
    state = f"off: {plugin.problem}" if plugin.problem else "on"
    kinds = Counter(item.kind for item in plugin.items)
    unusable = Counter(item.kind for item in plugin.items if item.problem)
    adds = ", ".join(
        f"{number} {kind}{'s' if number > 1 else ''}{f' ({unusable[kind]} cannot be used)' if unusable[kind] else ''}"
        for kind, number in kinds.items()
    )
    first = f"{clean(plugin.name)} {clean(plugin.version)}".rstrip() + f"  {clean(' '.join(state.split()))}"
    return f"{first}\n    {SOURCES[plugin.source]}, {clean(plugin.folder)} · adds {adds or 'nothing'}"


def describe_whole_plugin(plugin: "ListedPlugin") -> str:
    """Show a plug-in with all that it adds, as a person decides about it."""
    whole = (
        [_describe_plugin(plugin), f"    {clean(plugin.description)}"]
        if plugin.description
        else [_describe_plugin(plugin)]
    )
    for item in plugin.items:
        off = "" if item.on else "  (off)"
        does = " ".join(clean(f"cannot be used: {item.problem}" if item.problem else item.does).split())
        whole.append(f"  {item.kind:<8}  {clean(item.name)}{f': {does}' if does else ''}"[:LONGEST_LINE] + off)
    whole += [f"It {describe_effects(plugin.may)}."] if not plugin.problem or plugin.digest else []
    whole += ["Its code runs inside Halocline, with all that your account may do."] if plugin.runs_code else []
    whole += [f"Not read here: {', '.join(plugin.unread)}."] if plugin.unread else []
    return "\n".join([*whole, f"Hash: {plugin.digest}"] if plugin.digest else whole)


def describe_memory(memory: "Memory") -> str:
    """List the notes with their numbers and sources. Raises UsageError."""
    return "\n\n".join("\n".join(_memory_lines(source, memory)) for source in memory.sources()) or NO_NOTES


def _memory_lines(source: "MemoryFile", memory: "Memory") -> Iterator[str]:
    head = "Your notes" if source.file == memory.personal else "The project's notes"
    yield f"{head}, in {clean(str(source.file))}"
    yield from map(_note_line, source.notes)
    if source.beside:
        yield f"     {source.beside} other line{'s' if source.beside > 1 else ''}, also sent to tasks"
    if source.is_cut:
        yield "     The file is too long: only its beginning is sent to tasks."


def _note_line(note: "MemoryNote") -> str:
    facts = [note.date, f"task {note.task}" if note.task else "written by hand"]
    return f"{note.number:>3}  {clean(note.text)}\n     {', '.join(filter(None, facts))}"


def describe_finding(finding: "Finding") -> tuple[str, str]:
    """The beginning of a line of `halo doctor`, and its text."""
    mark = "✓" if finding.ok else "✗" if finding.needed else "–"
    return f"{mark} {finding.name:<12} ", finding.text
