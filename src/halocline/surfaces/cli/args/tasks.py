"""Arguments of the commands about tasks, checkpoints, to-do lists, memory and storage."""

import argparse

from halocline.protocol.messages import StopReason
from halocline.surfaces.cli.args.parser import JSON_LINES, PLAIN, SCREEN_READER, Parser, parse_port, positive_int

TASK_STATUSES = (
    "done",
    "partly-done",
    "rewound",
    "unfinished",
    "interrupted",
    "failed",
    "at-a-limit",
    "cut-off",
    "refused",
)
REASONS = tuple(reason.value for reason in StopReason)
"""The same ends as `--json` names them."""
IMPORTED = ("cline", "claude", "codex", "aider")
"""Programs whose conversations can be imported."""
EXPORTED = ("markdown", "html", "jsonl", "atif", "otlp")
"""Formats of an export."""
TASK_ID = "task ID, or its start or end"
PICKED = f"{TASK_ID}; without one, pick a task"
ALL_STEPS = "print all steps; into a pipe or file all are always written"
CHECKPOINT = "name from the list, or TASK@EVENT"


def add_task(parser: argparse.ArgumentParser, name: str = "id") -> None:
    """Add the task that a command is about; without one, the person picks."""
    parser.add_argument(name, nargs="?", default="", help=PICKED)


def editor_parser() -> Parser:
    about = "Serve the extension of an editor over stdin and stdout. The extension starts this command itself."
    parser = Parser(prog="halo editor", description=about)
    parser.add_argument("folders", nargs="*", metavar="DIR", help="the editor's folders; default: this folder")
    return parser


def web_parser() -> Parser:
    about = (
        "Open the chat view in a browser. The printed address contains an access key: anyone who has it can sign in."
    )
    parser = Parser(prog="halo web", description=about)
    add = parser.add_argument
    add("folders", nargs="*", metavar="DIR", help="folders for new tasks; default: this folder")
    add("--port", type=parse_port, metavar="N", help="port to listen on; 0 picks a free one")
    add(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen on, such as 0.0.0.0; other machines are paired with a code",
    )
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name to answer to, such as that of a proxy; repeatable",
    )
    add("--tls", action="store_true", help="encrypt, with a certificate that is made for this machine and kept")
    add("--tls-cert", metavar="FILE", default="", help="encrypt with your own certificate (PEM, with its chain)")
    add("--tls-key", metavar="FILE", default="", help="its private key; default: in the same file")
    add("--metrics-token", metavar="FILE", default="", help="file with the token that /metrics takes from Prometheus")
    add("--log-format", choices=("text", "json"), default="text", help="json prints what it logs, a line an entry")
    add("--install", action="store_true", help="run it as your own systemd service, with these arguments, and exit")
    add("--uninstall", action="store_true", help="stop and remove that service, and exit")
    add("--no-open", dest="open", action="store_false", help="do not open a browser")
    add("--browsers", action="store_true", help="list the signed-in browsers and exit")
    add("--sign-out", metavar="ID", default="", help="sign out a browser from that list, or all, and exit")
    return parser


def attach_parser() -> Parser:
    about = "Join a task that another process is running. When that process ends, this one takes over."
    parser = Parser(prog="halo attach", description=about)
    parser.add_argument("id", nargs="?", default="", help=f"{TASK_ID}; without one, pick an open task")
    parser.add_argument("--watch", action="store_true", help="only watch: never ask, and exit when the task closes")
    parser.add_argument("--plain", action="store_const", const="lines", default="", help=PLAIN)
    parser.add_argument("--screen-reader", action="store_const", const="words", dest="plain", help=SCREEN_READER)
    return parser


def logs_parser() -> Parser:
    about = "Print what a task did, whichever process runs it: halo tasks show under a shorter name."
    parser = Parser(prog="halo logs", description=about)
    parser.set_defaults(action="logs", at=None, points=False, cost=False)
    add_task(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="keep printing until the task is closed")
    parser.add_argument("--all", action="store_true", help=ALL_STEPS)
    return parser


def send_parser() -> Parser:
    about = "Send a message to a task. One that no process runs continues with it in the background."
    parser = Parser(prog="halo send", description=about)
    parser.add_argument("id", nargs="?", default="", help=f"{TASK_ID}; without one, pick an open task")
    parser.add_argument("text", nargs="*", help="the message; without one, standard input")
    parser.add_argument("--queue", action="store_true", help="let the running turn end first")
    return parser


def stop_parser() -> Parser:
    about = "End the turn of a task that another process runs; a task in the background is closed, too."
    parser = Parser(prog="halo stop", description=about)
    parser.add_argument("id", nargs="?", default="", help=f"{TASK_ID}, or an agent that runs; without one, pick one")
    return parser


def background_parser() -> Parser:
    about = "Run the tasks that halo run --bg hands over, and end with the last one. It is started by that command."
    return Parser(prog="halo background", description=about)


def board_parser() -> Parser:
    about = "List the tasks of all terminals and processes, decide what they ask, and open them."
    parser = Parser(prog="halo board", description=about)
    parser.add_argument("--here", action="store_true", help="only the tasks of this folder")
    return parser


def tasks_parser() -> Parser:
    parser = Parser(alone="list", prog="halo tasks", description="List, read and manage tasks.")
    known = "list|show|rename|favourite|tag|delete|undelete"
    actions = parser.add_subparsers(dest="action", required=True, metavar=known)
    _task_list(actions.add_parser("list", help="list and search tasks, newest first"))
    show = actions.add_parser("show", help="print a task; on a terminal, of a long one the last steps")
    add_task(show)
    show.add_argument("--all", action="store_true", help=ALL_STEPS)
    instead = show.add_mutually_exclusive_group()
    instead.add_argument("--follow", action="store_true", help="keep printing while another process writes it")
    instead.add_argument("--at", type=positive_int, metavar="EVENT", help="show it as it was after this event")
    instead.add_argument("--points", action="store_true", help="list the points you can restore, with event numbers")
    instead.add_argument("--cost", action="store_true", help="show tokens and dollars by step, turn and task")
    rename = actions.add_parser("rename", help="name a task")
    add_task(rename)
    rename.add_argument("name", nargs="*", help="the new name; none removes it")
    favourite = actions.add_parser("favourite", help="mark a task as a favorite")
    add_task(favourite)
    favourite.add_argument("--off", action="store_true", help="remove the mark")
    tag = actions.add_parser("tag", help="add tags to a task")
    add_task(tag)
    tag.add_argument("tags", nargs="+", metavar="TAG", help="one word each")
    tag.add_argument("--off", action="store_true", help="remove these tags")
    delete = actions.add_parser("delete", help="move tasks to the trash; can be undone")
    delete.add_argument("id", nargs="*", help="task IDs, or their starts or ends; without one, pick a task")
    delete.add_argument("--older", metavar="TIME", help="tasks inactive for this long, such as 30d; keeps favorites")
    delete.add_argument("-y", "--yes", action="store_true", help="do not ask")
    undelete = actions.add_parser("undelete", help="restore a task from the trash")
    undelete.add_argument("id", nargs="?", help="the task; without it, list the trash")
    return parser


def _task_list(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--search", nargs="+", metavar="WORD", default=[], help="only tasks with all these words; best match first")
    add("--all", action="store_true", help="include all folders")
    add("-C", "--cwd", "--workspace", metavar="DIR", default=".", help="the folder, or all")
    add("--model", metavar="NAME", default="", help="only tasks whose model name contains this")
    add("--since", metavar="TIME", help="only tasks active since: 12h, 30d, 2026-11-01")
    add("--favourite", action="store_true", help="only favorites")
    add("--tag", action="append", metavar="TAG", default=[], help="only tasks with this tag; repeatable")
    ends = f"only tasks whose last turn ended so: {', '.join(TASK_STATUSES)}; repeatable"
    add("--status", choices=(*TASK_STATUSES, *REASONS), action="append", metavar="END", default=[], help=ends)
    add("--subagents", metavar="ID", default="", help="list the sub-agents of this task instead")
    add(
        "--sort",
        choices=("time", "cost", "tokens", "size"),
        help="sort by newest, most expensive, most tokens or largest",
    )
    add("--limit", type=positive_int, metavar="N", help="show at most N tasks")
    add("--json", action="store_true", help=JSON_LINES)


def import_parser() -> Parser:
    parser = Parser(
        prog="halo import", description="Import conversations from other agents as tasks. Their files are not changed."
    )
    add = parser.add_argument
    add(
        "program",
        nargs="?",
        default="",
        metavar="PROGRAM",
        help=f"{', '.join(IMPORTED)} or all; mcp for MCP servers; settings; or just a file or folder",
    )
    add(
        "path", nargs="?", default="", help="a file, a folder, or the start or end of a conversation's ID; default: all"
    )
    add("--list", action="store_true", help="only list conversations, as halo import alone does")
    add("--dry-run", action="store_true", help="show what would be imported; write nothing")
    add("--since", default="", metavar="DAY", help="only conversations changed since this day (2026-11-01)")
    add("--workspace", default="", metavar="DIR", help="folder to continue them in; default: their original folder")
    add("-y", "--yes", action="store_true", help="with mcp or settings: take all without asking")
    add("--json", action="store_true", help=JSON_LINES)
    return parser


def export_parser() -> Parser:
    parser = Parser(
        prog="halo export", description="Write a task to standard output or a file, or send it to a collector."
    )
    add_task(parser)
    parser.add_argument("-f", "--format", choices=EXPORTED, default="markdown", help="the format")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write; default: standard output")
    return parser


def report_parser() -> Parser:
    about = "Bundle a task, your settings and what halo doctor finds, without keys. It is shown first and never sent."
    parser = Parser(prog="halo report", description=about)
    add_task(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write; default: halocline-report-ID.zip")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    return parser


def replay_parser() -> Parser:
    parser = Parser(prog="halo replay", description="Re-run a recorded task without a model or network.")
    add = parser.add_argument
    add("recording", nargs="?", default="", help="a file written by --record, or a task; without one, pick a task")
    add("--tolerant", action="store_true", help="continue after a difference if possible")
    add("--tools-in", metavar="DIR", help="run the tools, in this folder; default: use recorded results")
    add("--json", action="store_true", help="print one JSON object")
    return parser


def checkpoints_parser() -> Parser:
    parser = Parser(
        alone="list", prog="halo checkpoints", description="List, compare and restore checkpoints of a workspace."
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|diff|restore")
    listing = actions.add_parser("list", help="list checkpoints, newest first")
    diff = actions.add_parser("diff", help="show changes since a checkpoint, or between two")
    diff.add_argument("checkpoint", nargs="?", help=CHECKPOINT)
    diff.add_argument("other", nargs="?", help="compare with this checkpoint instead of the current files")
    diff.add_argument("--stat", action="store_true", help="only file names and line counts")
    diff.add_argument("--json", action="store_true", help="print JSON, one object per file")
    since = diff.add_mutually_exclusive_group()
    since.add_argument("--since-completion", action="store_true", help="changes of the task's newest turn")
    since.add_argument("--since-start", action="store_true", help="all changes of the task")
    diff.add_argument("--task", metavar="ID", help="with --since-…: the task; default: the newest of the folder")
    restore = actions.add_parser("restore", help="restore files; can be undone")
    restore.add_argument("checkpoint", help=CHECKPOINT)
    restore.add_argument("--what", choices=("files", "chat", "both"), default="files", help="what to restore")
    restore.add_argument("--overwrite", action="store_true", help="also overwrite later changes by you or others")
    restore.add_argument("-y", "--yes", action="store_true", help="do not ask")
    for action in (listing, diff, restore):
        action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    return parser


def worktrees_parser() -> Parser:
    about = "Work with the worktrees of --worktree: see what they change, and merge it into the main folder's files."
    parser = Parser(alone="list", prog="halo worktrees", description=about)
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|diff|merge|undo|discard")
    listing = actions.add_parser("list", help="list worktrees, with what is not merged")
    diff = actions.add_parser("diff", help="show what a worktree changed: committed, uncommitted and new files")
    merge = actions.add_parser("merge", help="merge its files into the main folder's, without a commit")
    side = merge.add_mutually_exclusive_group()
    for choice, what in (("ours", "take the main folder's lines"), ("theirs", "take the worktree's lines")):
        said = f"where both changed the same lines: {what}"
        side.add_argument(f"--{choice}", dest="choice", action="store_const", const=choice, help=said)
    side.add_argument("--markers", dest="choice", action="store_const", const="markers", help="write conflict markers")
    merge.set_defaults(choice="")
    merge.add_argument("--only", action="append", default=[], metavar="FILE", help="this file or folder; repeatable")
    merge.add_argument("--guarded", action="store_true", help="also files that an edit would ask about, as .env")
    undo = actions.add_parser("undo", help="undo the last merge; what you changed since stays")
    discard = actions.add_parser("discard", help="remove a worktree; with unmerged work it asks")
    discard.add_argument("--force", action="store_true", help="also with unmerged work; a checkpoint keeps it")
    for action in (diff, merge, undo, discard):
        action.add_argument("name", metavar="NAME", help="the name after --worktree")
    for action in (listing, diff, merge, undo, discard):
        action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="a folder of the repository")
    return parser


def fork_parser() -> Parser:
    parser = Parser(prog="halo fork", description="Start a new task from any point of a task.")
    add = parser.add_argument
    add_task(parser)
    add("--at", type=positive_int, metavar="EVENT", help="fork after this event; default: its end")
    add("-m", "--model", metavar="PROVIDER/MODEL", help="use another model")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--files", metavar="DIR", help="copy the files of that point to this folder, and work there")
    where.add_argument("--worktree", metavar="DIR", help="same, in a new Git worktree of the project")
    return parser


def todos_parser() -> Parser:
    parser = Parser(prog="halo todos", description="Show the to-do list of a task, and the file to edit it in.")
    parser.add_argument(
        "task", nargs="?", default="", help="task ID, or its start or end; default: the newest in this folder"
    )
    parser.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the folder")
    return parser


def memory_parser() -> Parser:
    parser = Parser(prog="halo memory", description="Show, edit or remove the notes that new tasks start with.")
    parser.set_defaults(action="show", cwd=".")
    actions = parser.add_subparsers(dest="action", metavar="show|edit|forget")
    show = actions.add_parser("show", help="list your own and the project's notes")
    edit = actions.add_parser("edit", help="open your notes in your editor")
    edit.add_argument("--project", action="store_true", help="the project's notes, which are shared")
    forget = actions.add_parser("forget", help="remove a note")
    forget.add_argument("number", type=positive_int, metavar="N", help="number of the note in show")
    for action in (show, edit, forget):
        action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the folder")
    return parser


def stats_parser() -> Parser:
    parser = Parser(prog="halo stats", description="Show tokens, cost, tasks, models and tools by day.")
    parser.add_argument("--since", metavar="TIME", default="30d", help="from this time on: 12h, 30d, 2026-11-01")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def storage_parser() -> Parser:
    parser = Parser(prog="halo storage", description="Show Halocline's disk usage, and free space.")
    parser.set_defaults(action="show")
    parser.add_argument("--json", action="store_true", help="print one JSON object with all tasks and stores")
    actions = parser.add_subparsers(dest="action", metavar="prune")
    prune = actions.add_parser("prune", help="delete data that no task needs, after showing it")
    prune.add_argument(
        "--older", type=_parse_age, metavar="AGE", help="also checkpoints of tasks unchanged for this long, such as 30d"
    )
    prune.add_argument(
        "--keep", type=positive_int, metavar="N", help="also all but the newest N checkpoints of each task"
    )
    prune.add_argument("--dry-run", action="store_true", help="only show what would be deleted")
    prune.add_argument("-y", "--yes", action="store_true", help="do not ask")
    return parser


def _parse_age(text: str) -> float:
    """Seconds."""
    units = {"h": 3600, "d": 86400, "w": 604800}
    if text[-1:] not in units or not text[:-1].isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not an age such as 12h, 30d or 8w")
    return float(text[:-1]) * units[text[-1]]
