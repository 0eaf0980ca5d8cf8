import os
import random
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from tests.samples import SAMPLED

from halocline.hosts.executables import find_ripgrep
from halocline.hosts.ripgrep import Ripgrep
from halocline.policy.paths import Classifier
from halocline.policy.read_scope import ReadScope
from halocline.ports.host import SearchQuery

pytestmark = [pytest.mark.process, pytest.mark.slow]

WORDS = ["alpha", "beta", "gamma", "delta", "grün", "größe", "привет", "absent", "nowhere"]
FOLDERS = [
    "",
    "src/",
    "src/deep/",
    "docs/",
    ".github/workflows/",
    ".config/",
    "lib/node_modules/left/",
    "out/",
    "mine/",
]
ENDS = [".py", ".ts", ".tsx", ".md", ".log", ".bin", ""]
SECRETS = ["src/.env", "docs/server.pem", ".github/secrets.json"]
KINDS = ["text"] * 6 + ["latin", "utf-16", "binary", "huge", "over lines"]
HUGE = b"x" * 1_100_000
REGEXES = [
    *WORDS,
    "(?i)ALPHA",
    r"alpha\s+beta",
    r"gamma:\n  delta",
    "gr.n",
    r"\bdelta\b",
    "(?s)alpha.{1,3}beta",
    "^beta$",
]
PATTERNS = [
    "",
    "",
    "",
    "*.py",
    "*.ts,*.tsx",
    "*.{ts,md}",
    "src/**",
    "src/**/*.py",
    "*.py *.md",
    "!*.md",
    "*.none",
    ".*",
]


class Tree:
    """A folder of generated files, and what is known of each of them by its making."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root = root
        self.kinds: dict[str, str] = {}
        root.mkdir()
        (root.parent / ".gitignore").write_text("*\n")  # one of those that must not count
        (root / ".gitignore").write_text("*.log\nout/\n")
        (root / ".clineignore").write_text("mine/\n")
        self.kinds |= {".gitignore": "text", ".clineignore": "hidden"}
        for at in range(150):
            name = f"{dice.choice(FOLDERS)}f{at}{dice.choice(ENDS)}"
            self._write(name, dice.choice(KINDS), dice)
        for name in SECRETS:
            self._write(name, "text", dice)
            self.kinds[name] = "secret"

    def _write(self, name: str, kind: str, dice: random.Random) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [" ".join(dice.choices(WORDS[:6] if kind == "latin" else WORDS[:7], k=3)) for _ in range(5)]
        text = "\n".join([*lines, *(["alpha", "  beta", "gamma:", "  delta"] if kind == "over lines" else [])]) + "\n"
        match kind:
            case "latin":
                path.write_bytes(f"{text}größe\n".encode("latin-1"))
            case "utf-16":
                path.write_bytes(text.encode("utf-16"))
            case "binary":
                path.write_bytes(b"\0\1" + text.encode())
            case "huge":
                path.write_bytes(text.encode() + HUGE + b"absent\n")
            case _:
                path.write_text(text)
        self.kinds[name] = self._place_kind(name) or kind

    def _place_kind(self, name: str) -> str:
        if name.startswith("mine/"):
            return "hidden"
        return "ignored" if name.endswith(".log") or name.startswith("out/") or "node_modules/" in name else ""

    def choose(self, folder: str, pattern: str) -> Iterator[tuple[str, str]]:
        """Yield the files below a folder that fit a pattern, as a person would understand it, each with its kind."""
        for name, kind in self.kinds.items():
            if name.startswith(folder) and fits(name, folder, pattern):
                yield name, kind


def fits(name: str, folder: str, pattern: str) -> bool:
    last = name.rpartition("/")[2]
    match pattern:
        case "":
            return True
        case ".*":
            return any(part.startswith(".") for part in name[len(folder) :].split("/"))
        case "!*.md":
            return not last.endswith(".md")
        case "src/**" | "src/**/*.py":
            return name.startswith("src/") and fnmatch(last, pattern[7:] or "*")
    return last.endswith(
        {"*.ts,*.tsx": (".ts", ".tsx"), "*.{ts,md}": (".ts", ".md"), "*.py *.md": (".py", ".md")}.get(
            pattern, (pattern[1:],)
        )
    )


def search_plainly(tree: Tree, regex: str, names: list[str], copies: Path) -> set[tuple[str, int]]:
    """Ask ripgrep itself about copies of the files in UTF-8, each line by its number."""
    found: set[tuple[str, int]] = set()
    for at, name in enumerate(names):
        data = (tree.root / name).read_bytes()
        copy = copies / f"{at}"
        copy.write_text(data.decode({"latin": "latin-1", "utf-16": "utf-16"}.get(tree.kinds[name], "utf-8")))
    over = ["--multiline"] if r"\n" in regex or r"\s" in regex or "(?s)" in regex else []
    command = [
        find_ripgrep(),
        "--no-config",
        "--no-ignore",
        "--line-number",
        "--no-heading",
        "--with-filename",
        "--null",
        *over,
    ]
    output = subprocess.run(
        [*command, "--max-columns=5000", f"--regexp={regex}", "."], cwd=copies, capture_output=True
    ).stdout
    for line in output.splitlines():
        copy, _, rest = line.decode().partition("\0")
        if "[Omitted long" not in rest:
            found.add((names[int(copy.removeprefix("./"))], int(rest.partition(":")[0])))
    return found


@pytest.mark.parametrize("seed", range(2) if SAMPLED else range(10))
async def test_every_search_finds_what_ripgrep_finds_and_counts_what_it_left_out(tmp_path: Path, seed: int):
    dice = random.Random(seed)
    tree = Tree(tmp_path / "project", dice)
    ignored = tuple((tree.root / ".clineignore").read_text().split("\n"))
    scope = ReadScope(Classifier(tree.root, ignored=ignored), {str(tree.root): ""})
    search = Ripgrep().only(scope)
    for at in range(20):
        regex, pattern, folder = dice.choice(REGEXES), dice.choice(PATTERNS), dice.choice(["", "", "src/", "docs/"])
        what = f"{regex!r} {pattern!r} {folder!r}"
        chosen = dict(tree.choose(folder, pattern))
        searched = [name for name, kind in chosen.items() if kind not in ("ignored", "hidden", "secret", "binary")]
        result = await search.search(SearchQuery(str(tree.root / folder), regex, pattern, context=0, limit=100_000))
        copies = tmp_path / f"copies{at}"
        copies.mkdir()
        wanted = search_plainly(tree, regex, searched, copies)
        found = {(os.path.relpath(one.path, tree.root), one.line) for one in result.matches}
        assert found == wanted, what
        left = result.left_out
        secrets = {f"{folder}{name}" for name in left.secrets}
        assert secrets == {name for name, kind in chosen.items() if kind == "secret"}, what
        if found:
            continue
        kinds = list(chosen.values())
        counts = (left.ignored, left.undecodable, left.large, left.more)
        assert counts == (kinds.count("ignored"), kinds.count("binary"), 0, False), what
        huge = [kind for kind in kinds if kind == "huge"]
        assert len(left.long) == (len(huge) if regex in ("absent", "(?i)absent") else 0), what
        assert [*left.secrets] == sorted(name[len(folder) :] for name, kind in chosen.items() if kind == "secret"), what
        there = [kind for _, kind in tree.choose(folder, "") if kind not in ("ignored", "hidden")]
        fitting = [kind for kind in kinds if kind not in ("ignored", "hidden")]
        assert left.unfitting == (0 if fitting else len(there)), what
