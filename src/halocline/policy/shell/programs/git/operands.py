"""Sort the operands of git commands: tell revisions from paths as git does, and put `--` between them.

What git may take for a path is never judged only as a revision, or the other way round: a name with a colon is both.
Commands that show file contents get pathspecs that exclude secrets; with those, `git diff` never compares two files
outside a repository.
"""

import re
from collections.abc import Iterator

from halocline.policy.shell.programs.exclusions import FOR_GIT, names_secret
from halocline.policy.shell.programs.git.read_only import OBJECT, PATHS_BEGIN, WHOLE_HISTORY
from halocline.policy.shell.programs.leaving_out import build_pathspecs
from halocline.policy.shell.programs.specs import Given, NamesSecret, Spec, Unlisted, literal
from halocline.policy.shell.syntax.render import render
from halocline.policy.shell.syntax.tree import Word
from halocline.policy.shell.values.ground import Ground
from halocline.protocol.patterns import compile_later

_LONG_MAGIC = compile_later(r":\(([^)]*)\)(.*)", re.DOTALL)
_SHORT_MAGIC = compile_later(r":([!^/]+):?(.*)", re.DOTALL)
_KNOWN_MAGIC = frozenset({"", "top", "literal", "icase", "glob", "exclude"})
_GLOB = compile_later(r"[*?\[]")
_SEARCH = compile_later(r"^:/|\^\{/")
_ANY_OBJECT = ("^{}", "^{blob}", "^{object}")
_PATCH = compile_later(r"-[a-zA-Z]*[puUW]\w*|--(patch|unified|function-context|word-diff|color-words).*")
_OF_COMMITS = frozenset({"show", "grep", "diff", "cat-file"})
_ONE_REVISION = compile_later(r"(?!\^)(?:(?!\.\.)[^:\s])+")
_STASH = compile_later(r"\d{1,6}")


def rewrite_stash(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Rewrite `stash show -p` as the equivalent `diff`, which can exclude files."""
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


def _find_paths(name: str, given: Given, ground: Ground) -> int:
    """Return the index of the first operand that git takes for a path."""
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
    """Count the operands that are search patterns."""
    return int(name == "grep" and "-e" not in given.names)


def _names_file(word: Word, ground: Ground) -> bool:
    if word.text.startswith((":(", ":!", ":^")) or (_GLOB.search(word.text) and not _SEARCH.search(word.text)):
        return True
    pattern = _GLOB.sub(lambda found: f"[{found.group()}]", word.text)
    return any(ground.facts.matches(pattern, folder) != () for folder in ground.folders)


def operands_of_git(name: str, spec: Spec, given: Given, ground: Ground) -> list[Word]:
    """Return the parts of the operands that must be judged as paths. Raises Unlisted."""
    if spec.extra and (fault := spec.extra(given)):
        raise Unlisted(fault)
    begin, patterns = _find_paths(name, given, ground), _count_patterns(name, given)
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
    """Yield a revision, which is judged as a path too, and the path of `REVISION:PATH` and `:STAGE:PATH`."""
    yield word
    parts = word.text.split(":")
    for at in range(1, len(parts)):
        path = ":".join(parts[at:])
        yield literal(path.lstrip("/") or ".")


def _of_pathspec(word: Word) -> Iterator[Word]:
    """Yield the path of a pathspec; nothing for one that excludes. Raises Unlisted."""
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
    """Check that this form of the command can exclude files. Raises Unlisted."""
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
    """Return the command with its flags and revisions, `--`, its paths, and the exclusions. Raises Unlisted.

    With only two paths, one of them outside the repository, `git diff` compares everything below them, even secrets.
    """
    start = f"git --no-pager {name}"
    if name not in PATHS_BEGIN:
        shown = [_render_front(name, part, given) for part in given.order]
        return " ".join((start, *spec.added, *shown))
    begin = _find_paths(name, given, ground)
    if spec.reads_folders(given.names):
        _require_exclusions(name, given, given.operands[:begin], given.operands[begin:], ground)
    front = [part for part in given.order if (part < begin if isinstance(part, int) else part != "--")]
    shown = [_render_front(name, part, given) for part in front]
    paths = [render(word) for word in given.operands[begin:]]
    leaves_out = spec.reads_folders(given.names) or (name == "diff" and len(paths) == 2)
    # These show only the files that they name, and accept no exclusions.
    named = bool({"-L", "--follow"} & set(given.names)) or (name == "diff" and "--no-index" in given.names)
    excluded = (*FOR_GIT, *build_pathspecs(ground)) if leaves_out and not named else ()
    whole = WHOLE_HISTORY if excluded and not paths and name in ("log", "show", "whatchanged", "reflog") else ()
    return " ".join((start, *spec.added, *whole, *shown, "--", *paths, *excluded))


def _render_front(name: str, part: str | int, given: Given) -> str:
    if isinstance(part, str):
        return part
    word = given.operands[part]
    names_commit = name in _OF_COMMITS and part >= _count_patterns(name, given) and not word.checked
    # A single revision, an object's name or a tag, may stand for a file.
    may_be_file = _ONE_REVISION.fullmatch(word.text) and ("^{" not in word.text or OBJECT.fullmatch(word.text))
    return render(literal(f"{word.text}^{{commit}}") if names_commit and may_be_file else word)
