"""One room opens files: it waits for no pipe, and follows no link unasked. Whoever opens otherwise says why."""

import ast
from collections.abc import Callable, Iterator

from tests.architecture.sources import find_nodes, parse_modules

ROOMS = ("tools", "runtime", "services", "task", "hosts", "mcp", "context", "checkpoints")
"""Whose listing of folders is accounted for; that of the others is for the person alone."""
LISTERS = {"scandir", "listdir", "iterdir", "glob", "rglob", "walk"}
READERS = {"read_bytes", "read_text"}

OWN = "files of Halocline's own home or package, or of the system"
PERSON = "a file that the person names at a prompt of their own, or lists in a page of theirs"
STEERS = "places of files that steer Halocline; what lies there is read by `files.regular`"
STORE = "files of the store of checkpoints"
WRITES = "writes a file that it makes; reads nothing"


def named(room: str, names: str, reason: str) -> dict[str, str]:
    return {f"{room}/{name}.py": reason for name in names.split()}


OPENING = {
    "files/opening.py": "the opener: by descriptors, without links",
    "files/regular.py": "the reader of regular files",
    "files/folder_mark.py": "asks the system for the mark of a folder; reads nothing",
    "files/real_paths.py": "asks the system for the name of an open file; reads nothing",
    "files/target.py": "writes below folders that the opener opened",
    "checkpoints/store/reading.py": "the opener of the store of checkpoints: names of git, in bytes, below one folder",
    "hosts/files/local.py": "reads lines of what the opener opened",
    "checkpoints/recovery/journal.py": "the journal of a restore, in the store",
    "protocol/private_files.py": WRITES,
    **named("checkpoints/index", "borrowing", STORE),
    **named("checkpoints/repository", "stores", STORE),
    **named("checkpoints/store", "layout objects syncing unreported", STORE),
    **named("checkpoints/changes", "claims", STORE),
    **named("runtime/attach", "owner_socket", OWN),
    **named("services", "background imports instructions blob_gc report", OWN),
    **named("runtime/prompts", "output_schema", PERSON),
    **named("context", "templates", OWN),
    **named("providers", "errors server_probe thinking_table", OWN),
    **named("providers/auth", "accounts", OWN),
    **named("providers/text_tools", "printed_calls", OWN),
    **named("surfaces/rows", "words", OWN),
    **named("git", "view", WRITES),
    **named("hosts", "ripgrep", WRITES),
    **named("hosts", "keeper", OWN),
    **named("hosts/shell", "ancestry readiness", OWN),
    **named("hosts/browser", "certificates", OWN),
    **named("hosts", "hooks", OWN),
    **named("hosts/files", "transaction", OWN),
    **named("hosts/sandbox", "landlock probe sandbox self_test backends", OWN),
    **named("mcp", "cache", WRITES),
    **named("mcp/connection", "server_log", WRITES),
    **named("mcp/registry", "bundles registry", PERSON),
    **named("providers/catalog", "vendors", OWN),
    **named("providers/scripted", "script", PERSON),
    **named("store/permissions", "grants", WRITES),
    **named("store/secrets", "salt", WRITES),
    "files/durable.py": "has the disk write what lies in memory, and writes files whole; reads nothing",
    **named("store", "blobs", OWN),
    **named("store/tasks", "history recording index", OWN),
    **named("store/plugins", "folder", WRITES),
    "protocol/file_locks.py": "lock files and folders, and the table of locks: nothing is read but who holds one",
    "protocol/processes.py": "what the kernel says of a process",
    "store/secrets/store.py": "the file of keys, which is opened as strictly: no link, no pipe, nobody else's",
    **named("surfaces/cli", "main", OWN),
    **named("surfaces/cli/commands", "docs", OWN),
    **named("surfaces/cli/mcp", "manage", OWN),
    **named("surfaces/cli/session", "images", PERSON),
    **named("surfaces/cli/session", "debug_log piped_input", WRITES),
    "surfaces/terminal/asking/text_editor.py": "copies in a private folder, which the person's editor rewrites",
    "surfaces/cli/session/prompt_source.py": "the terminal that the person types at",
    **named("surfaces/slash", "tasks", PERSON),
    **named("surfaces/editor", "page_files", OWN),
    **named("surfaces/web", "certificate diagram static_files", OWN),
    **named("batch", "places queue predictions folders", OWN),
    **named("batch", "harbor", PERSON),
    **named("batch/fleet", "host log_pieces opening slots", OWN),
    "batch/accept_files.py": "files that the person names for the acceptance; folders of a task open without links",
    **named("surfaces/cli/commands/batch", "command", PERSON),
    **named("surfaces/web/handlers", "metrics", PERSON),
    **named("policy", "word_tables", OWN),
    **named("policy/shell/programs", "tables", OWN),
    **named("tools", "toolset", OWN),
    **named("task", "lock log log_mending log_reading running_reply", OWN),
    **named("task/updates", "todo_file", OWN),
    **named("tools", "load_mcp_documentation", OWN),
}
LISTING = {
    "hosts/files/local.py": "lists what the opener opened; tidies up what it wrote itself",
    "hosts/shell/policy_facts.py": "names for the judge; nothing of them is given to the model",
    "task/updates/undeclared.py": "times and sizes; of the names, the model reads those that are not hidden",
    "hosts/code/tree_sitter.py": "which languages there are; nothing of the names is given to the model",
    "services/config_files.py": "names in locations of the one table, for the person who edits them",
    "context/system_prompt/environment.py": "names of the workspace's files",
    **named("checkpoints/repository", "renamed stores upkeep", STORE),
    **named("checkpoints/store", "layout syncing unreported", STORE),
    **named("hosts", "keeper", OWN),
    **named("hosts/shell", "ancestry readiness", OWN),
    **named("hosts/browser", "certificates", OWN),
    **named("hosts/files", "transaction", OWN),
    **named("hosts/language_servers", "finding", OWN),
    **named(
        "hosts/sandbox", "mounts self_test backends", "what the sandbox stands on; names and kernel facts, no content"
    ),
    **named("mcp", "cache", OWN),
    **named("services", "background imports storage tasks blob_gc usage_stats metrics", OWN),
    **named("services/doctor", "log_checks store_checks", OWN),
    **named("services/schedules", "service", OWN),
    **named("runtime", "litter", OWN),
    **named("runtime/history", "forks", OWN),
    **named("runtime/mentions", "suggestions", PERSON),
    **named("services", "commit_message folders", PERSON),
    **named("services", "instructions", STEERS),
    **named("context", "file_walk", STEERS),
    **named("context/user_files", "skills", STEERS),
    **named("context/instructions", "named_files", STEERS),
}
OPENS = {"add", "commit", "hash-object", "stash", "apply", "checkout", "status"}
"""Commands of git that read the workspace to keep what it holds, or what it is called."""


def test_whoever_opens_files_past_the_room_for_it_says_why():
    assert {name for name in modules("") if calls_one(name, opens)} == set(OPENING)


def test_whoever_lists_folders_says_why():
    found = {name for room in ROOMS for name in modules(f"{room}/")}
    assert {name for name in found if calls_one(name, lists)} == set(LISTING)


def test_the_store_of_checkpoints_has_git_open_no_file_of_the_workspace():
    asked = {
        words[0]
        for name in modules("checkpoints/")
        for call in calls(parse_modules()[name])
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("run", "word")
        and (words := [word.value for word in call.args if isinstance(word, ast.Constant)])
    }
    assert {"ls-files", "update-index", "fast-import"} <= asked
    assert not asked & OPENS


def modules(room: str) -> list[str]:
    return [name for name in parse_modules() if name.startswith(room)]


def calls_one(name: str, wanted: Callable[[ast.expr], bool]) -> bool:
    return any(wanted(call.func) for call in calls(parse_modules()[name]))


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    return iter(find_nodes(tree, ast.Call))


def opens(function: ast.expr) -> bool:
    match function:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id="os" | "io"), attr="open"):
            return True
        case ast.Attribute(attr=name):
            return name in READERS
    return False


def lists(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in LISTERS
