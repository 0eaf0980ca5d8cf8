"""Leave out of what git shows what is secret or hidden: by patterns, as its history may name what exists no more.

Some commands and forms take no such patterns; with hidden files they ask.
"""

import os
from collections.abc import Sequence
from glob import escape
from shlex import quote

from halocline.policy.paths import is_within
from halocline.policy.shell.programs.exclusions import FOR_GIT
from halocline.policy.shell.programs.leaving_out import MOST_HIDDEN, UNSURE, find_hidden
from halocline.policy.shell.programs.specs import Given, NamesHidden, Spec, Unlisted
from halocline.policy.shell.syntax.tree import Word
from halocline.policy.shell.values.ground import Ground

WHOLE_HISTORY = ("--full-history", "--sparse")
"""Flags that keep commits in a log even if all their changes are excluded."""
_ANY_OBJECT = ("^{}", "^{blob}", "^{object}")
_NO_EXCLUSIONS = frozenset({"ls-tree", "rev-list"})
"""Commands that list names and take no pathspecs that exclude some, or list them in spite of those."""
_MAY_HIDE = "it may list names that are hidden; git ls-files and git diff --name-only leave them out"


def build_exclusions(name: str, spec: Spec, given: Given, begin: int, ground: Ground) -> tuple[str, ...]:
    """Return the pathspecs that a command gets, whose paths begin at an operand. Raises Unlisted if it takes none."""
    revisions, paths = given.operands[:begin], given.operands[begin:]
    reads = spec.reads_folders(given.names)
    lists = ground.hides_names and spec.lists_names(given.names)
    if reads or lists:
        _require_exclusions(name, given, revisions, paths, ground)
    # These show only the files that they name, and accept no exclusions.
    named = bool({"-L", "--follow"} & set(given.names)) or (name == "diff" and "--no-index" in given.names)
    if name in _NO_EXCLUSIONS or named:
        return ()
    if reads or (name == "diff" and len(paths) == 2):
        return (*FOR_GIT, *_build_pathspecs(ground, names=False))
    return _build_pathspecs(ground, names=True) if lists else ()


def _require_exclusions(name: str, given: Given, revisions: list[Word], paths: list[Word], ground: Ground) -> None:
    """Check that this form of the command can exclude files. Raises Unlisted."""
    if name == "diff" and any(":" in word.text for word in revisions):
        raise Unlisted("to compare two versions of a file, use git diff REVISION REVISION -- PATH")
    if any(word.text.endswith(_ANY_OBJECT) for word in revisions):
        raise Unlisted("that object may be a file with secrets; name it as REVISION:PATH")
    if name in _NO_EXCLUSIONS and not (paths and all(is_file(word, ground) for word in paths)):
        raise NamesHidden(_MAY_HIDE)
    for flag, count in (("--follow", 1), ("--no-index", 2 if name == "diff" else None)):
        named = len(paths) == count and all(is_file(word, ground) for word in paths)
        if flag in given.names and count and not named:
            raise Unlisted(f"with {flag}, name {'one file' if count == 1 else 'two files'}")
    if "--follow" in given.names and ground.hides and ground.hides.key:
        raise Unlisted("with --follow it may show files that are hidden, by their earlier names")


def require_no_tree(revisions: Sequence[Word], ground: Ground) -> None:
    """Check that none of the objects which a command shows is a folder: its list has no exclusions. Raises Unlisted."""
    for word in revisions if ground.hides_names else ():
        revision, colon, path = word.text.partition(":")
        if revision.endswith("^{tree}") or (colon and not _leads_to_file(path, ground)):
            raise NamesHidden(_MAY_HIDE)


def is_file(word: Word, ground: Ground) -> bool:
    return word.value is not None and not word.text.startswith(":") and _leads_to_file(word.text, ground, word.quoted)


def _leads_to_file(text: str, ground: Ground, quoted: bool = True) -> bool:
    return text != "" and all(ground.facts.is_file(one.path) for one in ground.find(text, quoted=quoted))


def _build_pathspecs(ground: Ground, *, names: bool) -> tuple[str, ...]:
    """Return the pathspecs with which git leaves out what is hidden in any version. Raises Unlisted."""
    if ground.hides is None or (names and not any(_find_top(folder, ground) for folder in ground.folders)):
        return ()  # outside a repository, git lists nothing
    found: list[str] = []
    for root, line in ground.hides.names.key if names else ground.hides.key:
        pattern = line.strip().removeprefix("\\")
        if not pattern or line.startswith(("#", "!")):
            continue
        body = pattern.strip("/")
        anchored = "/" in pattern.rstrip("/")
        place = escape(_place_in_repository(root, ground)) if anchored else "**/"
        found += [f":(top,exclude,icase,glob){place}{body}{end}" for end in ("", "/**")]
    top = _find_top(ground.folders[0], ground) if ground.folders else ""
    inside = [root for root in ground.real_roots if top and is_within(root, top)]
    hidden, _ = find_hidden(inside, ground, deep=True, names=names)  # by another name, too: a hard link
    found += [f":(top,exclude,literal){os.path.relpath(path, top)}" for path in hidden]
    if len(found) > MOST_HIDDEN:
        raise Unlisted(UNSURE)
    if found:
        ground.left_out[""] = None
    return tuple(map(quote, dict.fromkeys(found)))


def _place_in_repository(root: str, ground: Ground) -> str:
    """Return where a folder is in the repository of git, with a slash. Raises Unlisted if it is not in it."""
    tops = {_find_top(folder, ground) for folder in ground.folders}
    top = next(iter(tops)) if len(tops) == 1 else ""
    if not top or not is_within(root, top):
        raise Unlisted(UNSURE)
    inside = os.path.relpath(root, top)
    return "" if inside == "." else f"{inside}/"


def _find_top(folder: str, ground: Ground) -> str:
    while not ground.facts.matches(".git", folder):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return ""
    return folder
