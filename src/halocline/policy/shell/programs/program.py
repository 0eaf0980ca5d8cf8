"""Judge one program with its words: by the table of readers, as git, or (`acting`) as one that does more.

Commands that steer Halocline are denied here; the command line itself refuses those that are spelled in another way.
"""

from itertools import takewhile

from halocline.policy.commands import NEVER, Use
from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.named_places import judge_named, judge_touching
from halocline.policy.shell.programs.acting import judge_acting
from halocline.policy.shell.programs.git_commands import judge_reading_git
from halocline.policy.shell.programs.mutating import ACTORS
from halocline.policy.shell.programs.reading import judge_by_spec
from halocline.policy.shell.programs.tables import PRINTS_VERSION, READERS, SHOWS_PROCESSES, SUBCOMMANDS
from halocline.policy.shell.syntax.tree import Piece, Simple, Word, render
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.variables import UNKNOWN
from halocline.policy.word_tables import read_words
from halocline.protocol.own_program import NAMES, REFUSED, STEERING, is_steering
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect

_FOLDERS = ("", "/bin/", "/usr/bin/")
_PYTHON = compile_later(r"python[23]?(\.\d{1,2})?")
_ENVIRONMENT = "it shows the environment, which may hold secrets"
_PROCESSES = "it may show the arguments of other processes, which may hold secrets"
_PLACES = frozenset({Rule.OUTSIDE, Rule.SECRET, Rule.HISTORY, Rule.IGNORED, Rule.OWN_STATE})
_CHANGES = frozenset({Effect.WRITES_INSIDE, Effect.WRITES_OUTSIDE, Effect.DESTRUCTIVE})
MILDER = frozenset({Rule.SHELL, Rule.WRITES, Rule.UNKNOWN, Rule.DYNAMIC})
_PATHLESS = frozenset({"echo", "true", "false", "pwd", "date", "whoami"})
_RUSTUP = frozenset({"cargo", "rustc"})
_SHOWS_ENVIRONMENT = frozenset({"env", "printenv", "export", "declare", "set", "typeset"})

_QUOTES = compile_later(r"[\\'\"]")
_ANY_PYTHON = compile_later(r"(?:python|pypy)[\d.]*")
_MODULE_FLAG = compile_later(r"-[A-Za-ln-z]*m.*")
_MODULES = frozenset({"halocline", "halocline.__main__"})
_WORDS = read_words(__file__)
RUNNERS = frozenset(_WORDS["runners"])
_RUN = frozenset({"run", "exec", "x"})
_NAME_A_PACKAGE = (["--from"], ["--with"], ["--spec"], ["-p"])
LAUNCHERS = frozenset(_WORDS["launchers"])


def judge_program(simple: Simple, ground: Ground) -> tuple[Finding, Ground]:
    """Judge one simple command; return the finding and the ground after it."""
    if (denied := judge_steering(simple)) is not None:
        return denied, ground
    noted = len(ground.touches)
    finding, after = _judge_by_tables(simple, ground)
    if simple.words[0].value and finding.rule not in (Rule.READS, *NEVER):
        knows_changes = any(one.use in (Use.CHANGE, Use.DELETE) for one in ground.touches[noted:])
        use = Use.READ if knows_changes else Use.MAY_CHANGE
        if own := judge_touching(simple, ground, use):
            return own, after
    return _judge_large_patterns(simple, ground, judge_named(simple, ground, finding)), after


def _judge_large_patterns(simple: Simple, ground: Ground, finding: Finding) -> Finding:
    """Raise the finding of a program that changes, or shows, what a pattern matches, if that is too much to look at."""
    shows = ground.hides is not None and ground.hides.key != () and not finding.reads
    if not (shows or finding.part.effect in _CHANGES) or finding.rule in (*NEVER, Rule.LEADS_ANYWHERE):
        return finding
    for word in simple.words[1:]:
        patterns = [one for one in (word.could if word.dynamic else (word,)) if one.is_pattern]
        if any(UNKNOWN not in one.text and ground.names(one) is None for one in patterns):
            unsure = f"what {word.source} matches is known only when it runs"
            reason = unsure if ground.matches_oddly else f"{word.source} matches too many names to check; name fewer"
            return Finding(make_part(simple.source, finding.part.effect, reason, (word.source,)), Rule.LEADS_ANYWHERE)
    return finding


def _judge_by_tables(simple: Simple, ground: Ground) -> tuple[Finding, Ground]:
    word = simple.words[0]
    name = word.value
    if not name:
        return unknown_finding(simple.source, "the program's name is known only when it runs", Rule.DYNAMIC), ground
    folder, slash, base = name.rpartition("/")
    known = base if f"{folder}{slash}" in _FOLDERS else name
    if not ground.folders and known not in _PATHLESS and known not in ACTORS:
        if own := judge_touching(simple, ground):
            return own, ground
        return unknown_finding(simple.source, "the folder it runs in is not known", Rule.DYNAMIC), ground
    if word.source != name:
        odd = unknown_finding(simple.source, "the program's name is written in an unusual way", Rule.DYNAMIC)
        return judge_acting(known, simple, ground) or odd, ground
    finding = _judge_reader(known, simple, ground)
    if finding.rule is not Rule.READS and (does := judge_acting(known, simple, ground)) is not None:
        return (finding if finding.rule in _PLACES and does.rule in (*MILDER, Rule.HISTORY) else does), ground
    return finding, ground


def _judge_reader(name: str, simple: Simple, ground: Ground) -> Finding:
    """Judge by the tables of what only reads."""
    words = simple.words[1:]
    texts = [word.value for word in words]
    if name in PRINTS_VERSION and len(words) == 1 and texts[0] in PRINTS_VERSION[name]:
        return _judge_version(name, simple, ground)
    if name == "git":
        return judge_reading_git(simple, ground)
    if _PYTHON.fullmatch(name):
        return _judge_python(name, simple, ground)
    if name in _SHOWS_ENVIRONMENT and (not words or name == "printenv"):
        return Finding(make_part(simple.source, Effect.READ_ONLY, _ENVIRONMENT), Rule.ENVIRONMENT)
    if name == "command":
        return judge_by_spec("command -v", READERS["type"], simple, words[1:], ground)
    if name == "tar" and words and texts[0] and not texts[0].startswith("-"):
        words = (Word(f"-{texts[0]}", (Piece(f"-{texts[0]}"),)), *words[1:])
    if name in SHOWS_PROCESSES:
        return _judge_processes(name, simple, ground)
    if (name == "cd" and texts == ["-"] and not ground.left) or (name == "popd" and not ground.stack):
        return unknown_finding(simple.source, "the folder that it goes to is known only when it runs")
    spec = READERS.get(name)
    if name in SUBCOMMANDS and words:
        name = f"{name} {texts[0]}"
        spec, words = READERS.get(name), words[1:]
    if spec is None:
        return unknown_finding(simple.source, f"{name} may change files")
    return judge_by_spec(name, spec, simple, words, ground)


def _judge_processes(name: str, simple: Simple, ground: Ground) -> Finding:
    """Judge a program that shows other processes: anything but known columns may hold secrets."""
    finding = judge_by_spec(name, READERS[name], simple, simple.words[1:], ground) if name in READERS else None
    if finding and finding.rule is Rule.READS:
        return finding
    effect = Effect.READ_ONLY if finding else Effect.UNKNOWN
    return Finding(make_part(simple.source, effect, _PROCESSES), Rule.ENVIRONMENT)


def _judge_version(name: str, simple: Simple, ground: Ground) -> Finding:
    if name in _RUSTUP and any(ground.facts.has_toolchain_file(folder) for folder in ground.folders):
        return unknown_finding(simple.source, "a rust-toolchain file decides which program runs")
    if "PATH" in ground.exported:
        return unknown_finding(simple.source, "an earlier command changed PATH")
    return Finding(make_part(simple.source, Effect.READ_ONLY), Rule.READS, " ".join(map(render, simple.words)))


def _judge_python(name: str, simple: Simple, ground: Ground) -> Finding:
    """Judge `-m json.tool`, which runs without the project's modules; other code may do anything."""
    texts = [word.value for word in simple.words[1:]]
    sure = "PATH" not in ground.exported and not any(word.checked for word in simple.words[:3])
    if sure and texts[:2] == ["-m", "json.tool"]:
        return judge_by_spec(f"{name} -I -m json.tool", READERS["json.tool"], simple, simple.words[3:], ground)
    return unknown_finding(simple.source, f"{name} may change files")


def judge_steering(simple: Simple) -> Finding | None:
    """Return the denial of a command that steers Halocline; None for any other."""
    steers = _is_steering([word.value or "" for word in simple.words])
    return unknown_finding(simple.source, REFUSED, Rule.OWN_STATE) if steers else None


def _is_steering(words: list[str]) -> bool:
    if not words:
        return False
    _, slash, base = words[0].rpartition("/")
    rest = words[1:]
    if base in NAMES:
        return (not slash or not STEERING.isdisjoint(rest[:1])) and is_steering(rest)  # a file may be any program
    if _ANY_PYTHON.fullmatch(base):
        return _python_steers(rest)
    if base in LAUNCHERS:
        return _started_within(rest) or any(
            _is_steering(_QUOTES.sub(" ", word).split()) for word in rest if " " in word
        )
    return base in RUNNERS and (base == "uvx" or not _RUN.isdisjoint(rest)) and _started_within(rest)


def _started_within(rest: list[str]) -> bool:
    bases = enumerate(word.rpartition("/")[2] for word in rest)
    ours = (at for at, base in bases if base in NAMES or _ANY_PYTHON.fullmatch(base))
    return any(rest[at - 1 : at] not in _NAME_A_PACKAGE and _is_steering(rest[at:]) for at in ours)


def _python_steers(rest: list[str]) -> bool:
    """Return True if Python steers Halocline, by `-m` and our package or by a file with our name."""
    flags = [*takewhile(lambda word: word.startswith("-"), rest)]
    by_module = next((at for at, flag in enumerate(flags) if _MODULE_FLAG.fullmatch(flag)), None)
    if by_module is None:
        file, arguments = "".join(rest[len(flags) : len(flags) + 1]), rest[len(flags) + 1 :]
        is_ours = file.rpartition("/")[2] in NAMES or file.endswith("halocline/__main__.py")
        return is_ours and is_steering(arguments)
    glued = flags[by_module].partition("m")[2]
    words = [*([glued] if glued else []), *rest[by_module + 1 :]]
    return bool(words) and words[0] in _MODULES and is_steering(words[1:])
