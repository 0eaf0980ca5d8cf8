"""Git commands that only read, with their harmless flags.

A repository's configuration may name programs to run. What the environment can switch off is switched off; for the rest
Git is asked (`ShellFacts.git_doubt`), and if there is a doubt, every git command asks.
"""

from collections.abc import Callable
from functools import partial

from halocline.policy.shell.programs.specs import Given, Role, Spec
from halocline.protocol.patterns import compile_later

NAMED, TEXT = Role.NAMED, Role.TEXT
_git = partial(Spec, operands=(NAMED,), ordered=True, numbers=True)

_COLOR = "always|never|auto"
OBJECT = compile_later(r"(.*-g)?[0-9a-fA-F]{4,64}(\^\{(blob|object)?\})?")
"""The name of an object, which may be of any kind."""
_DIFF = (
    "stat?list numstat shortstat name-only name-status summary patch no-patch raw cached staged unified=number "
    f"word-diff?color|plain|porcelain|none word-diff-regex=text color?{_COLOR} no-color color-words?text "
    "ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol function-context "
    "diff-filter=names find-renames?percent find-copies?percent find-copies-harder no-renames exit-code quiet check "
    "minimal patience histogram diff-algorithm=patience|minimal|histogram|myers|default binary full-index "
    "abbrev?number inter-hunk-context=number relative?path text merge-base ignore-submodules?none|untracked|dirty|all "
    "submodule?short|log no-prefix dirstat?names compact-summary no-ext-diff no-textconv cc combined-all-paths "
    "pickaxe-all pickaxe-regex base ours theirs src-prefix=text dst-prefix=text color-moved?names anchored=text "
    "indent-heuristic"
)
_LOG = (
    f"{_DIFF} oneline graph all decorate?short|full|auto|no no-decorate decorate-refs=text max-count=number "
    "skip=number since=date until=date after=date before=date author=text committer=text grep=text all-match "
    "invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp merges no-merges first-parent reverse "
    "format=format pretty?format abbrev-commit no-abbrev-commit date=text relative-date follow topo-order date-order "
    "author-date-order branches?text tags?text remotes?text glob=text exclude=text not boundary left-right cherry-pick "
    "cherry-mark cherry left-only right-only simplify-by-decoration full-history ancestry-path?text show-pulls source "
    "name-only walk-reflogs no-walk?sorted|unsorted children parents min-parents=number max-parents=number no-notes "
    "notes?text count objects no-mailmap mailmap reflog use-mailmap"
)
_DIFF_FLAGS, _DIFF_VALUED = "pustbwWDaRzq", "SG:text l:number U?number MCB?percent"
_PATCH = (
    "-p -u -U -W -c --patch --unified --function-context --word-diff --word-diff-regex --color-words --cc --binary "
    "--check"
)
"""Flags that make git print file contents."""
_BRIEF = (
    "--stat --numstat --shortstat --name-only --name-status --summary --dirstat --compact-summary --raw --quiet "
    "--no-patch -s -q"
)
"""Flags that make git print names instead of file contents."""
_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv")
WHOLE_HISTORY = ("--full-history", "--sparse")
"""Flags that keep commits in a log even if all their changes are excluded."""
_LISTED = "contains:text no-contains:text merged:text no-merged:text points-at=text sort=text format=format ignore-case"


def _only_lists(given: Given) -> str:
    """Accept operands of `branch` and `tag` only with a listing flag; otherwise they create new ones."""
    if shown := _shows_raw(given):
        return shown
    listing = {"--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "-n"}
    return "it would create a branch or tag" if given.operands and not listing & set(given.names) else ""


def _shows_raw(given: Given) -> str:
    shows = any("%(raw" in flag for flag in given.flags)
    return "a ref may stand for a file, which %(raw) shows" if shows else ""


def _reads_config(given: Given) -> str:
    if {"--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch"} & set(given.names):
        return ""
    return "" if len(given.operands) == 1 and "." in given.operands[0].text else "it would change a setting"


def _first_word_of(*allowed: str, empty: bool = True) -> Callable[[Given], str]:
    """Return a check that the second command word is one of these."""
    fits = {*allowed, None} if empty else {*allowed}
    return lambda given: (
        "" if next((word.text for word in given.operands), None) in fits else "it would do more than read"
    )


def _cat_file(given: Given) -> str:
    if {"-t", "-s", "-e"} & set(given.names):
        return ""
    plain = [word.text for word in given.operands if ":" not in word.text]
    if any(OBJECT.fullmatch(text) for text in plain) or (len(given.operands) > 1 and plain[1:]):
        return "that object may be a file with secrets; name it as REVISION:PATH"
    return ""


def _diff_spec(flags: str, valued: str, words: str, always: str = "") -> Spec:
    """Return the spec of a command that shows changes: by a flag, or `always` unless a flag makes it brief."""
    return _git(flags, valued, words, added=_PLAIN_DIFF, recursive=f"{always}{_PATCH}", brief=_BRIEF)


_BLAME = "L:text MC?percent"
LOOKS: dict[str, Spec] = {
    "status": _git(
        "sbz",
        "u?no|normal|all",
        "short branch show-stash porcelain?names long untracked-files?no|normal|all "
        "ignore-submodules?none|untracked|dirty|all ignored?names ahead-behind no-ahead-behind renames no-renames "
        "column?names no-column",
    ),
    "diff": _diff_spec(_DIFF_FLAGS, _DIFF_VALUED, f"{_DIFF} no-index", "always "),
    "log": _diff_spec(f"{_DIFF_FLAGS}igEFP", f"{_DIFF_VALUED} n:number L:lines", _LOG),
    "show": _diff_spec(f"{_DIFF_FLAGS}iEF", f"{_DIFF_VALUED} n:number L:lines", _LOG, "always "),
    "whatchanged": _diff_spec(_DIFF_FLAGS, f"{_DIFF_VALUED} n:number", _LOG),
    "shortlog": _git(
        "nsec",
        "w?list",
        "numbered summary email committer group=text format=format since=date until=date no-merges author=text all",
    ),
    "reflog": _git(
        "", "n:number", _LOG, extra=_first_word_of("show", "HEAD", "list", "exists"), recursive=_PATCH, brief=_BRIEF
    ),
    "branch": _git(
        "arvli",
        "",
        f"all remotes verbose list show-current {_LISTED} color?{_COLOR} no-color column?names abbrev?number no-abbrev",
        extra=_only_lists,
    ),
    "tag": _git("li", "n?number", f"list {_LISTED} color?{_COLOR} column?names", extra=_only_lists),
    "remote": _git("v", "", "verbose all push", extra=_first_word_of("get-url")),
    "stash": _git(
        "z",
        "n:number",
        "oneline format=format pretty?format date=text stat?list numstat shortstat name-only name-status summary "
        "since=date until=date",
        extra=_first_word_of("list", "show", empty=False),
    ),
    "worktree": _git("vz", "", "porcelain verbose", extra=_first_word_of("list", empty=False)),
    "notes": _git("", "", "ref=text", extra=_first_word_of("list", "show")),
    "config": _git(
        "lz",
        "",
        "get get-all get-regexp list local global system show-origin show-scope name-only type=names bool int null "
        "get-urlmatch",
        operands=(TEXT,),
        extra=_reads_config,
    ),
    "rev-parse": _git(
        "q",
        "",
        "abbrev-ref?strict|loose show-toplevel git-dir git-common-dir absolute-git-dir is-inside-work-tree "
        "is-inside-git-dir is-bare-repository short?number verify quiet symbolic symbolic-full-name show-prefix "
        "show-cdup all branches?text tags?text remotes?text show-object-format?names is-shallow-repository revs-only "
        "no-revs flags no-flags not",
    ),
    "rev-list": _git("igEFz", "n:number", _LOG),
    "ls-files": _git(
        "cdmoistuzkvf",
        "x:text",
        "cached deleted modified others ignored stage unmerged killed exclude-standard exclude=text full-name "
        "error-unmatch directory no-empty-directory abbrev?number eol deduplicate format=format sparse resolve-undo",
    ),
    "ls-tree": _git(
        "drtlz", "", "name-only name-status full-name full-tree long abbrev?number object-only format=format"
    ),
    "blame": _git(
        "bltfnsewcp",
        _BLAME,
        "porcelain line-porcelain root show-stats date=text show-name show-number show-email abbrev=number since=date "
        "first-parent ignore-rev=text color-lines color-by-age",
    ),
    "annotate": _git("bltfnsewcp", _BLAME, "porcelain date=text"),
    "grep": _git(
        "invwhHlLcpqIaoEGFPWrz",
        "e:text ABCm:number",
        "cached untracked no-index exclude-standard text ignore-case word-regexp invert-match extended-regexp "
        "basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only files-without-match "
        f"count color?{_COLOR} no-color break heading show-function context=number after-context=number "
        "before-context=number function-context max-depth=number and or not all-match quiet only-matching "
        "max-count=number full-name null recursive",
        recursive="always",
    ),
    "describe": _git(
        "",
        "",
        # `--dirty` and `--broken` write the index.
        "tags all always long abbrev?number candidates=number exact-match match=text exclude=text contains "
        "first-parent",
    ),
    "cat-file": _git("tpse", "", "", extra=_cat_file),
    "show-ref": _git("dsq", "", "heads tags branches verify hash?number abbrev?number dereference quiet exists"),
    "for-each-ref": _git("", "", f"count=number {_LISTED}", operands=(TEXT,), extra=_shows_raw),
    "merge-base": _git("a", "", "all octopus is-ancestor independent fork-point"),
    "name-rev": _git("", "", "tags refs=text all name-only always"),
    "count-objects": _git("vH", "", "verbose human-readable"),
    "check-ignore": _git("qvnz", "", "quiet verbose non-matching no-index"),
    "diff-tree": _diff_spec(f"{_DIFF_FLAGS}rtvc", _DIFF_VALUED, f"{_DIFF} root no-commit-id pretty?format"),
    **dict.fromkeys(("diff-index", "diff-files"), _diff_spec(_DIFF_FLAGS, _DIFF_VALUED, _DIFF)),
    "symbolic-ref": _git(
        "q", "", "short quiet", extra=lambda given: "" if len(given.operands) == 1 else "it would change the ref"
    ),
    "cherry": _git("v", "", "abbrev?number"),
    "range-diff": _git("", "", "no-color stat?list no-dual-color", added=_PLAIN_DIFF, recursive="always"),
    "var": _git("", "", "", operands=(TEXT,)),
    "version": _git("", "", "build-options", most=0),
}
PATHS_BEGIN: dict[str, int | None] = {
    **dict.fromkeys(("diff", "log", "show", "whatchanged", "shortlog", "reflog", "rev-list", "grep"), None),
    **dict.fromkeys(("diff-tree", "diff-index", "range-diff"), None),
    **dict.fromkeys(("status", "ls-files", "diff-files"), 0),
    **dict.fromkeys(("blame", "annotate"), -1),
    "ls-tree": 1,
}
"""Commands with revisions before `--` and paths after it, with the index of the first operand that is a path.

Negative indexes count from the end; None means the first operand that names a file.
"""
