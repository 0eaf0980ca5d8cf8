"""Files are read through one opener, which follows no link and waits for no pipe; whoever reads otherwise says why."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "halocline"
ROOMS = ("tools", "controller", "task", "hosts", "mcp", "context", "checkpoints")
READERS = {"read_bytes", "read_text", "scandir", "listdir", "iterdir", "glob", "rglob", "walk"}

OWN = "files of Halocline's own home or package, or of the system"
PERSON = "a file that the person names at a prompt of their own, or lists in a page of theirs"
STEERS = "files that steer Halocline, read for instructions; trust and the gate of instructions decide on them"
REASONS = {
    "hosts/opening.py": "the opener",
    "checkpoints/reading.py": "the opener of the store of checkpoints: names of git, in bytes, below one folder",
    "hosts/files.py": "lists what the opener opened; tidies up what it wrote itself",
    "hosts/target.py": "writes below folders that the opener opened",
    "hosts/shell_facts.py": "fingerprints and settings for the judge; nothing of them is given to the model",
    **dict.fromkeys(
        ("hosts/browser_trust.py", "hosts/transaction.py", "hosts/hooks.py", "hosts/keeper.py", "hosts/readiness.py"),
        OWN,
    ),
    **dict.fromkeys(("hosts/ancestry.py", "hosts/language_servers/finding.py"), OWN),
    **dict.fromkeys(
        (f"hosts/sandbox/{name}.py" for name in ("ground", "landlock", "probe", "sandbox", "self_test", "ways")),
        "what the sandbox stands on; names and kernel facts, no content",
    ),
    **dict.fromkeys((f"mcp/{name}.py" for name in ("bundles", "cache", "pins", "registry", "server_log")), OWN),
    **dict.fromkeys((f"task/{name}.py" for name in ("lock", "log", "log_mending", "log_reading", "todo_file")), OWN),
    **dict.fromkeys(
        (
            f"controller/{name}.py"
            for name in ("blotting", "door", "forks", "import_desk", "litter", "log_checks", "storage", "sweeping")
        ),
        OWN,
    ),
    **dict.fromkeys((f"controller/{name}.py" for name in ("composing", "folders", "output_schema")), PERSON),
    "controller/rules_desk.py": STEERS,
    "controller/approval_folder.py": "decisions of programs of the person, in a folder of ours that no tool reaches",
    **dict.fromkeys((f"context/{name}.py" for name in ("answer_form", "compaction", "instructions")), OWN),
    **dict.fromkeys((f"context/{name}.py" for name in ("system_prompt", "tool_requests")), OWN),
    "context/environment.py": "names of the workspace's files, and the branch",
    **dict.fromkeys((f"context/{name}.py" for name in ("agents", "instruction_files", "memory", "skills")), STEERS),
    "context/word_files.py": STEERS,
    "tools/load_mcp_documentation.py": OWN,
    **dict.fromkeys(
        (f"checkpoints/{name}.py" for name in ("claims", "lock", "merging", "objects", "stores", "upkeep")),
        "files of the store",
    ),
    "checkpoints/applying.py": "writes files; reads by the store's opener",
    "checkpoints/journals.py": "reads and writes its own file in the store",
    "checkpoints/borrowing.py": "the index of the project's git, which is taken over as it is",
    "checkpoints/contents.py": "has the disk write what lies in memory; reads nothing",
    "checkpoints/layout.py": "files of the store, and the rules of what is hidden",
    "checkpoints/restore.py": "names of files in a folder that would be replaced",
}
OPENS = {"add", "commit", "hash-object", "stash", "apply", "checkout", "status"}
"""Commands of git that read the workspace to keep what it holds, or what it is called."""


def test_whoever_reads_files_past_the_opener_says_why():
    found = {path.relative_to(SOURCE).as_posix() for room in ROOMS for path in (SOURCE / room).rglob("*.py")}
    assert {name for name in found if reads(SOURCE / name)} == set(REASONS)


def test_the_store_of_checkpoints_has_git_open_no_file_of_the_workspace():
    asked = {
        words[0]
        for path in (SOURCE / "checkpoints").rglob("*.py")
        for call in calls(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("run", "word")
        and (words := [word.value for word in call.args if isinstance(word, ast.Constant)])
    }
    assert {"ls-files", "update-index", "fast-import"} <= asked
    assert not asked & OPENS


def reads(path: Path) -> bool:
    return any(_opens(call.func) for call in calls(ast.parse(path.read_text(encoding="utf-8"))))


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _opens(function: ast.expr) -> bool:
    match function:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id="os" | "io"), attr="open"):
            return True
        case ast.Attribute(attr=name):
            return name in READERS
    return False
