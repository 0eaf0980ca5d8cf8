"""Sort the operands of git commands: tell revisions from paths as git does, and put `--` between them.

What git may take for a path is never judged only as a revision, or the other way round: a name with a colon is both.
Commands that show file contents get pathspecs that exclude secrets; with those, `git diff` never compares two files
outside a repository.
"""

import re
from collections.abc import Iterator

from halocline.policy.shell.programs.exclusions import names_secret
from halocline.policy.shell.programs.git.pathspecs import WHOLE_HISTORY, build_exclusions, require_no_tree
from halocline.policy.shell.programs.git.read_only import OBJECT
from halocline.policy.shell.programs.specs import Given, NamesSecret, Spec, Unlisted
from halocline.policy.shell.syntax.tree import Word, literal, render
from halocline.policy.shell.values.ground import Ground
from halocline.protocol.patterns import compile_later

_LONG_MAGIC = compile_later(r":\(([^)]*)\)(.*)", re.DOTALL)
_SHORT_MAGIC = compile_later(r":([!^/]+):?(.*)", re.DOTALL)
_KNOWN_MAGIC = frozenset({"", "top", "literal", "icase", "glob", "exclude"})
_GLOB = compile_later(r"[*?\[]")
_SEARCH = compile_later(r"^:/|\^\{/")
_OF_COMMITS = frozenset({"show", "grep", "diff", "cat-file"})
_OF_HISTORY = frozenset({"log", "show", "whatchanged", "reflog"})
_ONE_REVISION = compile_later(r"(?!\^)(?:(?!\.\.)[^:\s])+")
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_STASH = compile_later(r"\d{1,6}")


def rewrite_words(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Rewrite `stash show` and `ls-tree -r --name-only` as an equivalent comparison, which can exclude files."""
    texts = [word.text for word in words]
    if texts[0] == "ls-tree" and {"-r", "--name-only"} == {text for text in texts[1:] if text[:1] == "-"} - {"--"}:
        operands = [word for word in words[1:] if not word.text.startswith("-")]
        front = literal("diff-tree"), literal("-r"), literal("--name-only"), literal(_EMPTY_TREE)
        return (*front, *operands[:1], literal("--"), *operands[1:])
    if texts[:2] != ["stash", "show"]:
        return words
    flags = [word for word in words[2:] if word.text.startswith("-")]
    named = [word for word in words[2:] if not word.text.startswith("-")]
    if len(named) > 1 or any(word.value is None or word.checked for word in named):
        return words
    stash = named[0].text if named else "stash@{0}"
    stash = f"stash@{{{stash}}}" if _STASH.fullmatch(stash) else stash
    return (literal("diff"), *(flags or [literal("--stat")]), literal(f"{stash}^"), literal(stash))


def _find_paths(name: str, spec: Spec, given: Given, ground: Ground) -> int:
    """Return the index of the first operand that git takes for a path."""
    count = len(given.operands)
    if name == "diff" and "--no-index" in given.names:
        return 0
    if given.split >= 0 or not spec.paths:
        return given.split if given.split >= 0 else count
    if spec.paths != "named":
        begin = int(spec.paths)
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
    begin, patterns = _find_paths(name, spec, given, ground), _count_patterns(name, given)
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


def render_git(name: str, spec: Spec, given: Given, ground: Ground) -> str:
    """Return the command with its flags and revisions, `--`, its paths, and the exclusions. Raises Unlisted.

    With only two paths, one of them outside the repository, `git diff` compares everything below them, even secrets.
    """
    start = f"git --no-pager {name}"
    if name in ("show", "cat-file"):
        require_no_tree(given.operands[: _find_paths(name, spec, given, ground)], ground)
    if not spec.paths:
        shown = [_render_front(name, part, given) for part in given.order]
        return " ".join((start, *spec.added, *shown))
    begin = _find_paths(name, spec, given, ground)
    excluded = build_exclusions(name, spec, given, begin, ground)
    front = [part for part in given.order if (part < begin if isinstance(part, int) else part != "--")]
    shown = [_render_front(name, part, given) for part in front]
    paths = [render(word) for word in given.operands[begin:]]
    whole = WHOLE_HISTORY if excluded and not paths and name in _OF_HISTORY else ()
    return " ".join((start, *spec.added, *whole, *shown, "--", *paths, *excluded))


def _render_front(name: str, part: str | int, given: Given) -> str:
    if isinstance(part, str):
        return part
    word = given.operands[part]
    names_commit = name in _OF_COMMITS and part >= _count_patterns(name, given) and not word.checked
    # A single revision, an object's name or a tag, may stand for a file.
    may_be_file = _ONE_REVISION.fullmatch(word.text) and ("^{" not in word.text or OBJECT.fullmatch(word.text))
    return render(literal(f"{word.text}^{{commit}}") if names_commit and may_be_file else word)
