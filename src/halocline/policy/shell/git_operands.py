"""The operands of git's commands: revisions and paths are told apart as git does it, and `--` is put between them.

Nothing that git takes for a path is judged as a revision only, nor the other way round: a name with a colon is both.
What shows the content of files gets pathspecs that leave out secrets; with them, `git diff` never compares two files
outside a repository.
"""

import re
from collections.abc import Iterator

from halocline.policy.shell.exclusions import names_secret
from halocline.policy.shell.git import OBJECT, PATHS_BEGIN, WHOLE_HISTORY
from halocline.policy.shell.ground import Ground
from halocline.policy.shell.render import render
from halocline.policy.shell.specs import Given, NamesSecret, Spec, Unlisted, literal
from halocline.policy.shell.tree import Word

_LONG_MAGIC = re.compile(r":\(([^)]*)\)(.*)", re.DOTALL)
_SHORT_MAGIC = re.compile(r":([!^/]+):?(.*)", re.DOTALL)
_KNOWN_MAGIC = frozenset({"", "top", "literal", "icase", "glob", "exclude"})
_GLOB = re.compile(r"[*?\[]")
_SEARCH = re.compile(r"^:/|\^\{/")
_ANY_OBJECT = ("^{}", "^{blob}", "^{object}")
_PATCH = re.compile(r"-[a-zA-Z]*[puUW]\w*|--(patch|unified|function-context|word-diff|color-words).*")
_STASH = re.compile(r"\d{1,6}")


def rewrite_stash(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`stash show -p` as the `diff` that it is, which can leave out files."""
    texts = [word.text for word in words]
    if texts[:2] != ["stash", "show"] or not any(_PATCH.fullmatch(text) for text in texts[2:]):
        return words
    flags = [word for word in words[2:] if word.text.startswith("-")]
    named = [word for word in words[2:] if not word.text.startswith("-")]
    if len(named) > 1 or any(word.value is None or word.checked for word in named):
        return words
    stash = named[0].text if named else "stash@{0}"
    stash = f"stash@{{{stash}}}" if _STASH.fullmatch(stash) else stash
    return (literal("diff"), *flags, literal(f"{stash}^"), literal(stash))


def find_paths(name: str, spec: Spec, given: Given, ground: Ground) -> int:
    """The number of the first operand that git takes for a path."""
    count, begin = len(given.operands), PATHS_BEGIN.get(name, len(given.operands))
    if name == "diff" and "--no-index" in given.names:
        return 0
    if given.split >= 0:
        return given.split
    if begin is not None:
        return min(begin, count) if begin >= 0 else max(count + begin, 0)
    first = _count_patterns(name, given)
    return next((at for at in range(first, count) if _names_file(given.operands[at], ground)), count)


def _count_patterns(name: str, given: Given) -> int:
    """How many operands are patterns to search for."""
    return int(name == "grep" and "-e" not in given.names)


def _names_file(word: Word, ground: Ground) -> bool:
    if word.text.startswith((":(", ":!", ":^")) or (_GLOB.search(word.text) and not _SEARCH.search(word.text)):
        return True
    pattern = _GLOB.sub(lambda found: f"[{found.group()}]", word.text)
    return any(ground.facts.matches(pattern, folder) != () for folder in ground.folders)


def judged_words(name: str, spec: Spec, given: Given, ground: Ground) -> list[Word]:
    """What of the operands has to be judged as a path. Raises Unlisted."""
    begin, patterns = find_paths(name, spec, given, ground), _count_patterns(name, given)
    for number, word in enumerate(given.operands):
        if word.dynamic or (word.checked and not patterns <= number < begin):
            raise Unlisted(f"{word.source}: {word.dynamic or 'it is known only when it runs'}")
    if begin < patterns:
        raise Unlisted("write the search text after -e")
    for word in given.operands[:begin]:
        if word.is_pattern:
            raise Unlisted(f"{word.source} may expand to a flag; write it after --")
    found = [path for word in given.operands[patterns:begin] for path in _of_revision(word)]
    found += [path for word in given.operands[begin:] for path in _of_pathspec(word)]
    return found


def _of_revision(word: Word) -> Iterator[Word]:
    """A revision, judged as a path too; of `REVISION:PATH` and `:STAGE:PATH` also the path."""
    yield word
    parts = word.text.split(":")
    for at in range(1, len(parts)):
        path = ":".join(parts[at:])
        yield literal(path.lstrip("/") or ".")


def _of_pathspec(word: Word) -> Iterator[Word]:
    """The path of a pathspec; none of one that leaves out. Raises Unlisted."""
    magic, path = "", word.text
    if word.text.startswith(":") and not word.is_pattern:
        if found := _LONG_MAGIC.fullmatch(word.text):
            magic, path = found.groups()
        elif found := _SHORT_MAGIC.fullmatch(word.text):
            magic, path = ("exclude" if set(found[1]) & set("!^") else ""), found[2]
        if not set(magic.split(",")) <= _KNOWN_MAGIC:
            raise Unlisted(f"{word.source}: this kind of pathspec is not known to be harmless")
    if "exclude" in magic.split(","):
        return
    if names_secret(path):
        raise NamesSecret(f"{word.source} names files that may hold secrets")
    yield word if path == word.text else literal(path or ".")


def _require_exclusions(name: str, given: Given, revisions: list[Word], paths: list[Word], ground: Ground) -> None:
    """A form of the command that can leave out files. Raises Unlisted."""
    if name == "diff" and any(":" in word.text for word in revisions):
        raise Unlisted("to compare two versions of a file, use git diff REVISION REVISION -- PATH")
    if any(word.text.endswith(_ANY_OBJECT) for word in revisions):
        raise Unlisted("that object may be a file with secrets; name it as REVISION:PATH")
    for flag, count in (("--follow", 1), ("--no-index", 2 if name == "diff" else None)):
        named = len(paths) == count and all(_is_file(word, ground) for word in paths)
        if flag in given.names and count and not named:
            raise Unlisted(f"with {flag}, name {'one file' if count == 1 else 'two files'}")


def _is_file(word: Word, ground: Ground) -> bool:
    return (
        word.value is not None
        and not word.text.startswith(":")
        and all(ground.facts.is_file(one.path) for one in ground.find(word.text, quoted=word.quoted))
    )


def render_git(name: str, spec: Spec, given: Given, ground: Ground) -> str:
    """The command with flags and revisions as they stood, `--`, its paths, and what is left out. Raises Unlisted.

    Two paths alone, one of them outside as git sees it, make `git diff` compare all that is below them, secrets too.
    """
    start = f"git --no-pager {name}"
    if name not in PATHS_BEGIN:
        shown = [part if isinstance(part, str) else render(given.operands[part]) for part in given.order]
        return " ".join((start, *spec.added, *shown))
    begin = find_paths(name, spec, given, ground)
    if spec.reads_folders(given.names):
        _require_exclusions(name, given, given.operands[:begin], given.operands[begin:], ground)
    shown = [_render_front(name, part, given) for part in given.order if part != "--" and not _is_behind(part, begin)]
    paths = [render(word) for word in given.operands[begin:]]
    leaves_out = spec.reads_folders(given.names) or (name == "diff" and len(paths) == 2)
    excluded = spec.excluded if leaves_out and not _names_files(name, given) else ()
    whole = WHOLE_HISTORY if excluded and not paths and name in ("log", "show", "whatchanged", "reflog") else ()
    return " ".join((start, *spec.added, *whole, *shown, "--", *paths, *excluded))


def _names_files(name: str, given: Given) -> bool:
    """Whether flags make the command show the files only that it names, and take no pathspecs that leave out."""
    return bool({"-L", "--follow"} & set(given.names)) or (name == "diff" and "--no-index" in given.names)


def _is_behind(part: str | int, begin: int) -> bool:
    return isinstance(part, int) and part >= begin


def _render_front(name: str, part: str | int, given: Given) -> str:
    if isinstance(part, str):
        return part
    word = given.operands[part]
    if name in ("show", "grep") and part >= _count_patterns(name, given) and OBJECT.fullmatch(word.text):
        return render(literal(f"{word.text}^{{commit}}"))
    return render(word)
