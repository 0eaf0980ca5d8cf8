"""git's commands that only look, with their harmless flags.

A repository may name programs in its configuration. What can be switched off by environment is; for the rest git is
asked (`ShellFacts.git_doubt`), and where there is a doubt, every git command is asked about.
"""

from collections.abc import Callable

from halocline.policy.shell.specs import Given, Role, Spec

NAMED, TEXT = Role.NAMED, Role.TEXT

_DIFF = (
    "stat? numstat shortstat name-only name-status summary patch no-patch raw cached staged unified= word-diff? "
    "word-diff-regex= color? no-color color-words? ignore-all-space ignore-space-change ignore-space-at-eol "
    "ignore-blank-lines ignore-cr-at-eol function-context diff-filter= find-renames? find-copies? find-copies-harder "
    "no-renames exit-code quiet check minimal patience histogram diff-algorithm= binary full-index abbrev? "
    "inter-hunk-context= relative? text merge-base ignore-submodules? submodule? no-prefix dirstat? compact-summary "
    "no-ext-diff no-textconv cc combined-all-paths pickaxe-all pickaxe-regex base ours theirs src-prefix= dst-prefix= "
    "color-moved? anchored= indent-heuristic"
)
_LOG = (
    f"{_DIFF} oneline graph all decorate? no-decorate decorate-refs= max-count= skip= since= until= after= before= "
    f"author= "
    "committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp merges "
    "no-merges "
    "first-parent reverse format= pretty? abbrev-commit no-abbrev-commit date= relative-date follow topo-order "
    "date-order "
    "author-date-order branches? tags? remotes? glob= exclude= not boundary left-right cherry-pick cherry-mark cherry "
    "left-only right-only simplify-by-decoration full-history ancestry-path? show-pulls source name-only walk-reflogs "
    "no-walk? children parents min-parents= max-parents= no-notes notes? count objects no-mailmap mailmap reflog "
    "use-mailmap"
)
_DIFF_FLAGS, _DIFF_VALUED = "pustbwWMCDaRzBq", "USGl"


def _lists(given: Given) -> str:
    """Operands of `branch` and `tag` make new ones, unless it is told to list."""
    listing = {"--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "-n"}
    return "it would make a new one" if given.operands and not listing & set(given.names) else ""


def _reads_config(given: Given) -> str:
    if {"--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch"} & set(given.names):
        return ""
    return "" if len(given.operands) == 1 and "." in given.operands[0].text else "it would change a setting"


def _first(*allowed: str, empty: bool = True) -> Callable[[Given], str]:
    """A second command word that must be one of these."""

    def check(given: Given) -> str:
        if not given.operands:
            return "" if empty else "it would do more than look"
        return "" if given.operands[0].text in allowed else "it would do more than look"

    return check


def _remote(given: Given) -> str:
    if not given.operands or given.operands[0].text == "get-url":
        return ""
    return "it would change remotes or ask one"


def _one(given: Given) -> str:
    return "" if len(given.operands) == 1 else "it would change what the name stands for"


def _spec(
    flags: str = "",
    valued: str = "",
    words: str = "",
    *,
    operands: tuple[Role, ...] = (NAMED,),
    most: int = 1000,
    added: tuple[str, ...] = (),
    extra: Callable[[Given], str] | None = None,
) -> Spec:
    return Spec(
        flags, valued, words, operands=operands, most=most, added=added, extra=extra, ordered=True, numbers=True
    )


LOOKS: dict[str, Spec] = {
    "status": _spec(
        "sbuvz",
        "",
        "short branch show-stash porcelain? long verbose untracked-files? ignore-submodules? ignored? ahead-behind "
        "no-ahead-behind renames no-renames column? no-column",
    ),
    "diff": _spec(_DIFF_FLAGS, _DIFF_VALUED, _DIFF, added=("--no-ext-diff", "--no-textconv")),
    "log": _spec(f"{_DIFF_FLAGS}igEFP", f"{_DIFF_VALUED}nL", _LOG, added=("--no-ext-diff", "--no-textconv")),
    "show": _spec(f"{_DIFF_FLAGS}iEF", f"{_DIFF_VALUED}nL", _LOG, added=("--no-ext-diff", "--no-textconv")),
    "whatchanged": _spec(_DIFF_FLAGS, f"{_DIFF_VALUED}n", _LOG, added=("--no-ext-diff", "--no-textconv")),
    "shortlog": _spec(
        "nsec", "w", "numbered summary email committer group= format= since= until= no-merges author= all"
    ),
    "reflog": _spec("", "n", f"{_LOG}", extra=_first("show", "HEAD", "list", "exists")),
    "branch": _spec(
        "arvli",
        "",
        "all remotes verbose list show-current sort= format= contains? no-contains? merged? no-merged? points-at= "
        "color? "
        "no-color column? abbrev? no-abbrev ignore-case",
        extra=_lists,
    ),
    "tag": _spec(
        "lin",
        "",
        "list sort= format= contains? no-contains? merged? no-merged? points-at= color? column? ignore-case",
        extra=_lists,
    ),
    "remote": _spec("v", "", "verbose all push", extra=_remote),
    "stash": _spec(
        _DIFF_FLAGS,
        f"{_DIFF_VALUED}n",
        f"{_DIFF} oneline format= pretty? date= include-untracked only-untracked",
        extra=_first("list", "show", empty=False),
    ),
    "worktree": _spec("vz", "", "porcelain verbose", extra=_first("list", empty=False)),
    "notes": _spec("", "", "ref=", extra=_first("list", "show")),
    "config": _spec(
        "lz",
        "",
        "get get-all get-regexp list local global system show-origin show-scope name-only type= bool int null "
        "get-urlmatch",
        operands=(TEXT,),
        extra=_reads_config,
    ),
    "rev-parse": _spec(
        "q",
        "",
        "abbrev-ref? show-toplevel git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir "
        "is-bare-repository short? verify quiet symbolic symbolic-full-name show-prefix show-cdup all branches? tags? "
        "remotes? show-object-format? is-shallow-repository revs-only no-revs flags no-flags not",
    ),
    "rev-list": _spec("igEFnz", "n", _LOG),
    "ls-files": _spec(
        "cdmoistuzkvf",
        "x",
        "cached deleted modified others ignored stage unmerged killed exclude-standard exclude= full-name "
        "error-unmatch "
        "directory no-empty-directory abbrev? eol deduplicate format= recurse-submodules sparse resolve-undo",
    ),
    "ls-tree": _spec("drtlz", "", "name-only name-status full-name full-tree long abbrev? object-only format="),
    "blame": _spec(
        "bltfnsewMCcp",
        "L",
        "porcelain line-porcelain root show-stats date= show-name show-number show-email abbrev= since= first-parent "
        "ignore-rev= color-lines color-by-age",
    ),
    "annotate": _spec("bltfnsewMCcp", "L", "porcelain date="),
    "grep": _spec(
        "invwhHlLcpqIaoEGFPWrz",
        "eABCm",
        "cached untracked no-index exclude-standard recurse-submodules text ignore-case word-regexp invert-match "
        "extended-regexp "
        "basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only files-without-match "
        "count "
        "color? no-color break heading show-function context= after-context= before-context= function-context "
        "max-depth= "
        "and or not all-match quiet only-matching max-count= full-name null recursive",
    ),
    "describe": _spec(
        "",
        "",
        "tags all always dirty? broken? long abbrev? candidates= exact-match match= exclude= contains first-parent",
    ),
    "cat-file": _spec("tpse", "", ""),
    "show-ref": _spec("dsq", "", "heads tags branches verify hash? abbrev? dereference quiet exists"),
    "for-each-ref": _spec(
        "", "", "count= sort= format= contains? merged? no-merged? points-at= ignore-case", operands=(TEXT,)
    ),
    "merge-base": _spec("a", "", "all octopus is-ancestor independent fork-point"),
    "name-rev": _spec("", "", "tags refs= all name-only always"),
    "count-objects": _spec("vH", "", "verbose human-readable"),
    "check-ignore": _spec("qvnz", "", "quiet verbose non-matching no-index"),
    "diff-tree": _spec(
        f"{_DIFF_FLAGS}rtvc",
        _DIFF_VALUED,
        f"{_DIFF} root no-commit-id pretty?",
        added=("--no-ext-diff", "--no-textconv"),
    ),
    "diff-index": _spec(_DIFF_FLAGS, _DIFF_VALUED, _DIFF, added=("--no-ext-diff", "--no-textconv")),
    "diff-files": _spec(_DIFF_FLAGS, _DIFF_VALUED, _DIFF, added=("--no-ext-diff", "--no-textconv")),
    "symbolic-ref": _spec("q", "", "short quiet", extra=_one),
    "cherry": _spec("v", "", "abbrev?"),
    "range-diff": _spec("", "", "no-color stat? no-dual-color", added=("--no-ext-diff", "--no-textconv")),
    "var": _spec("", "", "", operands=(TEXT,)),
    "version": _spec("", "", "build-options", most=0),
}
