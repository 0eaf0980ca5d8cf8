"""Split a call into acts that are judged one by one: the paths it touches, its command, the server it contacts."""

from collections.abc import Sequence

from msgspec.structs import replace

from halocline.policy.commands import Circumstances, CommandJudgement, Finding, Rule, Touch, Use
from halocline.policy.destinations import Destination, Net, parse_destination
from halocline.policy.holding import is_of_system
from halocline.policy.mcp import ALL
from halocline.policy.paths import Resolved
from halocline.policy.runner_options import OFFERED
from halocline.ports.tool import Summary
from halocline.protocol.kinds import Grant, ToolKind
from halocline.protocol.permission_rules import Effect, Place
from halocline.protocol.values import Value

KINDS_OF = {
    Use.READ: (ToolKind.READ, ToolKind.SEARCH, ToolKind.EXECUTE),
    Use.CHANGE: (ToolKind.EDIT, ToolKind.EXECUTE),
    Use.DELETE: (ToolKind.DELETE, ToolKind.MOVE, ToolKind.EDIT, ToolKind.EXECUTE),
    Use.MAY_CHANGE: (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE),
}
"""Kinds of tools that do to a place what a command does."""
_TAKEN = {Rule.NETWORK: (Place.OUTSIDE,), Rule.HISTORY: (Place.OUTSIDE, Place.RUNS_LATER)}
"""Places that a rule for a program does not cover if their names are among its words: it may write there."""


class Act(Value, frozen=True):
    """One thing that a call does, judged on its own.

    `argv` are the words of a simple command; None if unknown. `command` is a whole command line with its place, `parts`
    are the acts in it, `within` those wrapped in others (by `env`, `xargs`). `opened`, `is_opened` and
    `reads` of a part are as in `Finding`, `redirected` the edits by its redirections. `touched` are
    the places that a command uses, as acts for deny and ask rules: such an act counts as all its `kinds`, and is
    `possible` if the program may do no such thing. `in_sandbox`, `risky`, `mcp`, `read_only`, `changed` and `agent` are
    as in a `Summary`. `scripts` are the workspace files that a command runs, or the definition of an MCP tool. `grant`
    is what *always* would cover, `wider` a broader offer.
    """

    kind: ToolKind
    tool: str = ""
    path: Resolved | None = None
    command: str = ""
    argv: tuple[str, ...] | None = None
    effect: Effect | None = None
    reads: bool = False
    careful: Place | None = None
    server: Destination | None = None
    grant: Grant | None = None
    wider: Grant | None = None
    opened: tuple[str, ...] = ()
    is_opened: bool = False
    redirected: tuple["Act", ...] = ()
    judged: CommandJudgement | None = None
    in_sandbox: bool | None = None
    risky: bool = False
    parts: tuple["Act", ...] = ()
    within: tuple["Act", ...] = ()
    touched: tuple["Act", ...] = ()
    kinds: tuple[ToolKind, ...] = ()
    possible: bool = False
    scripts: tuple[str, ...] = ()
    mcp: str = ""
    read_only: bool = False
    changed: bool = False
    agent: str = ""

    @property
    def place(self) -> Place | None:
        return self.path.place if self.path else self.careful


def acts_of(summary: Summary, paths: tuple[Resolved, ...], where: Circumstances) -> list[Act]:
    """Return everything that a call does, a command first. Raises ToolFailure if its URL is invalid."""
    whole = Act(kind=summary.kind, tool=summary.tool, mcp=summary.mcp, read_only=summary.read_only, agent=summary.agent)
    if summary.mcp:
        return [_of_server(whole, summary)]
    if summary.custom:
        return _custom_acts(whole, summary, paths)
    if summary.command:
        return _command_acts(whole, summary, paths, where)
    acts = [replace(whole, path=path, grant=path_grant(summary.kind, path)) for path in paths]
    if summary.url:
        acts.append(_server_act(whole, summary))
    return acts or [replace(whole, grant=Grant(summary.kind))]


def path_grant(kind: ToolKind, path: Resolved) -> Grant:
    """Return what *always* covers: the whole project, or just this path elsewhere."""
    return Grant(kind, "" if path.place is Place.PROJECT else path.path)


def _custom_acts(whole: Act, summary: Summary, paths: tuple[Resolved, ...]) -> list[Act]:
    """Return the acts of a tool of the program: what it does as a whole, unless its files or server say that."""
    own = replace(whole, grant=Grant(summary.kind, summary.custom))
    if summary.kind is ToolKind.EDIT and not summary.anywhere:
        return [replace(whole, path=path, grant=path_grant(summary.kind, path)) for path in paths]
    reads = [Act(ToolKind.READ, whole.tool, path=path, grant=own.grant, agent=whole.agent) for path in paths]
    if summary.kind is ToolKind.READ:
        return reads
    server = [_server_act(replace(whole, kind=ToolKind.FETCH), summary)] if summary.url else []
    return [*(server if server and summary.kind is ToolKind.FETCH else [own, *server]), *reads]


def _of_server(whole: Act, summary: Summary) -> Act:
    """Return the act of an MCP tool: a grant covers the tool as defined now, or all tools of its server."""
    scripts = (f"{summary.mcp}={summary.definition}",) if summary.definition else ()
    grant = Grant(summary.kind, mcp=summary.mcp, scripts=scripts)
    wider = Grant(summary.kind, mcp=f"{summary.mcp.rpartition('/')[0]}/{ALL}")
    return replace(whole, grant=grant, wider=wider, scripts=scripts, changed=summary.changed)


def _server_act(whole: Act, summary: Summary) -> Act:
    server = parse_destination(summary.url)
    if summary.private and server.net is Net.PUBLIC:
        server = replace(server, net=Net.PRIVATE)
    host = server.hostname if server.net is Net.PUBLIC else server.exactly
    grant = Grant(summary.kind, f"clicks and typing on {host}" if summary.on_page else host)
    return replace(whole, server=server, grant=grant)


def _command_acts(whole: Act, summary: Summary, paths: tuple[Resolved, ...], where: Circumstances) -> list[Act]:
    """Return the acts of a command and of the folder it runs in; one grant covers both."""
    from halocline.policy.shell.verdict import judge_command  # with the parser, which only commands pay for

    exactly = f"{summary.command} (in {summary.place})" if summary.place else summary.command
    judged = judge_command(summary.command, where)
    command = replace(
        whole,
        command=exactly,
        effect=judged.effect,
        scripts=judged.scripts,
        grant=Grant(summary.kind, exactly, scripts=judged.scripts),
        wider=_wider_grant(judged, summary.kind) if not summary.place else None,
        judged=judged,
        in_sandbox=summary.in_sandbox,
        risky=summary.risky,
        parts=tuple(_part_act(whole, part, where) for part in judged.simple),
        touched=_touch_acts(whole, judged.touches, where),
        within=tuple(replace(whole, argv=words) for words in judged.within),
    )
    return [command, *(Act(ToolKind.READ, path=path, grant=command.grant, agent=summary.agent) for path in paths)]


def _part_act(whole: Act, part: Finding, where: Circumstances) -> Act:
    reads = part.reads or part.rule is Rule.SHELL
    read = {touch.path.place for touch in part.touches if touch.use is Use.READ and not is_of_system(touch.path.path)}
    taken = (Place.SECRET, *_TAKEN.get(part.rule, ()))
    careful = part.place or next((place for place in taken if place in read), None)
    act = replace(whole, argv=part.argv, effect=part.effect, reads=reads, careful=careful, scripts=part.scripts)
    edits = tuple(Act(ToolKind.EDIT, whole.tool, touch.path, agent=whole.agent) for touch in part.redirects)
    touched = _touch_acts(act, part.touches, where)
    return replace(act, touched=touched, opened=part.opened, is_opened=part.is_opened, redirected=edits)


def _touch_acts(act: Act, touches: Sequence[Touch], where: Circumstances) -> tuple[Act, ...]:
    """Return the places that a command uses as acts, as far as a rule may guard them."""
    some = ((one.path, one.use) for one in touches if one.use in where.guarded)
    return tuple(replace(act, kinds=KINDS_OF[use], path=path, possible=use is Use.MAY_CHANGE) for path, use in some)


def _wider_grant(judged: CommandJudgement, kind: ToolKind) -> Grant | None:
    """Return a grant for commands that begin like this one, if the program is one of `OFFERED`."""
    more = [part for part in judged.simple if not part.reads]
    if len(more) != 1 or not more[0].argv or more[0].place:
        return None
    words = more[0].argv[: OFFERED.get(more[0].argv[0], 0)]
    if not words or any(word.startswith("-") for word in words):
        return None
    return Grant(kind, argv=words, scripts=more[0].scripts)
