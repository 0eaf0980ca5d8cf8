"""Judge one program with its words: by the table of readers, as git, or (`acting`) as one that does more."""

import re
from collections.abc import Sequence
from dataclasses import replace

from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.guards import as_name, with_numbers
from halocline.policy.shell.places import folder_of, judge_reading
from halocline.policy.shell.programs import git, git_operands
from halocline.policy.shell.programs.acting import LONGEST_WORD, judge_acting, judge_touching
from halocline.policy.shell.programs.dot_patterns import without_parents
from halocline.policy.shell.programs.exclusions import names_secret
from halocline.policy.shell.programs.mutating import ACTORS
from halocline.policy.shell.programs.own_program import judge_steering
from halocline.policy.shell.programs.python_code import files_read
from halocline.policy.shell.programs.read_only import PRINTS_VERSION, READERS, SHOWS_PROCESSES, SUBCOMMANDS
from halocline.policy.shell.programs.specs import Given, NamesSecret, Role, Spec, Unlisted, literal, sort_words
from halocline.policy.shell.syntax.render import render
from halocline.policy.shell.syntax.tree import Piece, Simple, Word
from halocline.policy.shell.values.ground import Found, Ground
from halocline.protocol.errors import ToolFailure
from halocline.protocol.permission_rules import Effect, Place

MOST_NAMES = 900
_FOLDERS = ("", "/bin/", "/usr/bin/")
_STATUS = re.compile(r"\$\?|\"[\w .,:;=()/+-]*\$\?[\w .,:;=()/+-]*\"")
_PYTHON = re.compile(r"python[23]?(\.\d{1,2})?")
_HIDDEN = "it may read files that an ignore file hides"
_PROCESSES = "it may show the arguments of other processes, which may hold secrets"
_NEVER = frozenset({Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED})
_PLACES = frozenset({Rule.OUTSIDE, Rule.SECRET, Rule.IGNORED, Rule.OWN_STATE})
MILDER = frozenset({Rule.ORDINARY, Rule.WRITES, Rule.UNKNOWN, Rule.DYNAMIC})
_RUSTUP = frozenset({"cargo", "rustc"})
_SHOWS_ENVIRONMENT = frozenset({"env", "printenv", "export", "declare", "set", "typeset"})


def judge_program(simple: Simple, ground: Ground) -> tuple[Finding, Ground]:
    """Judge one simple command; return the finding and the ground after it."""
    if (denied := judge_steering(simple)) is not None:
        return denied, ground
    finding, after = _judge_by_tables(simple, ground)
    if simple.words[0].value and finding.rule not in (Rule.READS, *_NEVER) and (own := judge_touching(simple, ground)):
        return own, after
    if finding.rule in (Rule.ORDINARY, Rule.UNKNOWN, Rule.DYNAMIC, Rule.WRITES):
        finding = _judge_named_secrets(simple, ground, finding)
    return finding, after


def _judge_named_secrets(simple: Simple, ground: Ground, finding: Finding) -> Finding:
    """Raise the finding of a program that gets a file that may hold secrets: it may show or copy it."""
    for word in simple.words[1:]:
        names = "\0" not in word.text and len(word.text) < LONGEST_WORD and not word.text.startswith("--exclude=")
        for one in ground.targets(word) if names else ():
            if one.place is Place.SECRET:
                effect = finding.part.effect
                targets = (*finding.part.targets, one.shown)
                return Finding(make_part(simple.source, effect, f"{one.shown} may hold secrets", targets), Rule.SECRET)
    return finding


def _judge_by_tables(simple: Simple, ground: Ground) -> tuple[Finding, Ground]:
    word = simple.words[0]
    name = word.value
    if not name:
        return unknown_finding(simple.source, "the program's name is known only when it runs", Rule.DYNAMIC), ground
    folder, slash, base = name.rpartition("/")
    known = base if f"{folder}{slash}" in _FOLDERS else name
    if not ground.folders and not _is_pathless(known):
        if own := judge_touching(simple, ground):
            return own, ground
        return unknown_finding(simple.source, "the folder it runs in is not known", Rule.DYNAMIC), ground
    if word.source != name:
        finding = judge_acting(known, simple, ground)
        return (
            finding or unknown_finding(simple.source, "the program's name is written in an unusual way", Rule.DYNAMIC)
        ), ground
    finding = _judge_reader(known, simple, ground)
    if finding.rule is Rule.READS and known == "cd":
        return finding, _change_folder(simple, ground)
    if finding.rule is not Rule.READS and (does := judge_acting(known, simple, ground)) is not None:
        return (finding if finding.rule in _PLACES and does.rule in MILDER else does), ground
    return finding, ground


def _is_pathless(name: str) -> bool:
    return name in ("echo", "true", "false", "pwd", "date", "whoami") or name in ACTORS


def _change_folder(simple: Simple, ground: Ground) -> Ground:
    target = simple.words[-1]
    try:
        return ground.with_folders(one.path for one in ground.find(target.text, quoted=target.quoted))
    except ToolFailure:
        return ground.with_folders(())


def _judge_reader(name: str, simple: Simple, ground: Ground) -> Finding:
    """Judge by the tables of what only reads."""
    words = simple.words[1:]
    texts = [word.value for word in words]
    if name in PRINTS_VERSION and len(words) == 1 and texts[0] in PRINTS_VERSION[name].split():
        return _judge_version(name, simple, ground)
    if name == "git":
        return _judge_git(simple, ground)
    if _PYTHON.fullmatch(name):
        return _judge_python(name, simple, ground)
    if name in _SHOWS_ENVIRONMENT and (not words or name == "printenv"):
        return Finding(
            make_part(simple.source, Effect.READ_ONLY, "it shows the environment, which may hold secrets"), Rule.SECRET
        )
    if name == "command":
        name, words = "type", words[1:]
        return _judge_by_spec("command -v", READERS["type"], simple, words, ground)
    if name == "tar" and words and texts[0] and not texts[0].startswith("-"):
        words = (Word(f"-{texts[0]}", (Piece(f"-{texts[0]}"),)), *words[1:])
    if name in SHOWS_PROCESSES:
        return _judge_processes(name, simple, ground)
    spec = READERS.get(name)
    if name in SUBCOMMANDS and words:
        name = f"{name} {texts[0]}"
        spec, words = READERS.get(name), words[1:]
    if spec is None:
        return unknown_finding(simple.source, f"nothing is known about {name}")
    return _judge_by_spec(name, spec, simple, words, ground)


def _judge_processes(name: str, simple: Simple, ground: Ground) -> Finding:
    """Judge a program that shows other processes: anything but known columns may hold secrets."""
    finding = _judge_by_spec(name, READERS[name], simple, simple.words[1:], ground) if name in READERS else None
    if finding and finding.rule is Rule.READS:
        return finding
    return Finding(make_part(simple.source, Effect.READ_ONLY if finding else Effect.UNKNOWN, _PROCESSES), Rule.SECRET)


def _judge_version(name: str, simple: Simple, ground: Ground) -> Finding:
    if name in _RUSTUP and any(ground.facts.has_toolchain_file(folder) for folder in ground.folders):
        return unknown_finding(simple.source, "a rust-toolchain file decides which program runs")
    if "PATH" in ground.exported:
        return unknown_finding(simple.source, "an earlier command changed PATH")
    return Finding(
        make_part(simple.source, Effect.READ_ONLY), Rule.READS, " ".join(render(word) for word in simple.words)
    )


def _judge_python(name: str, simple: Simple, ground: Ground) -> Finding:
    """Judge code in the command that only computes, and `-m json.tool`; both run without the project's modules."""
    texts = [word.value for word in simple.words[1:]]
    if "PATH" in ground.exported or any(word.checked for word in simple.words[:3]):
        return unknown_finding(simple.source, f"nothing is known about {name}")
    if texts[:2] == ["-m", "json.tool"]:
        module = f"{name} -I -m json.tool"
        return _judge_by_spec(module, READERS["json.tool"], simple, simple.words[3:], ground)
    files = files_read(texts[1]) if len(texts) == 2 and texts[0] == "-c" and texts[1] else None
    if files is None:
        return unknown_finding(simple.source, f"nothing is known about {name}")
    try:
        found = [one for file in files for one in ground.find(file, quoted=True)]
    except ToolFailure as why:
        return unknown_finding(simple.source, why.text, Rule.DYNAMIC)
    return judge_reading(simple.source, found, f"{name} -I -c {render(simple.words[2])}")


def _judge_by_spec(name: str, spec: Spec, simple: Simple, words: tuple[Word, ...], ground: Ground) -> Finding:
    if spec.looks_up and "PATH" in ground.exported:
        return unknown_finding(simple.source, "an earlier command changed PATH, which its answer depends on")
    if name in ("echo", "printf"):
        words = tuple(_mark_status(word) for word in words)
    try:
        given = sort_words(spec, tuple(map(without_parents, words)), _quote)
        paths = [*given.paths, *_require(spec, given)]
        form = _build_form(name, spec, given)
        return _read(simple, spec, given, paths, form, ground)
    except (Unlisted, ToolFailure) as why:
        return _refuse(simple, spec, why)


def _refuse(simple: Simple, spec: Spec, why: Unlisted | ToolFailure) -> Finding:
    """Return the finding for a command with a word that is not known to be harmless or cannot be judged."""
    match why:
        case NamesSecret():
            return Finding(make_part(simple.source, Effect.READ_ONLY, str(why)), Rule.SECRET)
        case ToolFailure():
            return unknown_finding(simple.source, why.text, Rule.DYNAMIC)
        case _:
            return unknown_finding(simple.source, str(why), Rule.SECRET if spec.recursive else Rule.UNKNOWN)


def may_read_folders(words: Sequence[str]) -> bool:
    """Return True if a command as written shows whole folders, including secrets, or may do so."""
    name, *rest = words or ("",)
    name = name.rpartition("/")[2]
    if name == "git":
        sub = next((at for at, word in enumerate(rest) if word in git.LOOKS), len(rest))
        spec, rest = git.LOOKS.get("".join(rest[sub : sub + 1])), rest[sub + 1 :]
    else:
        spec = READERS.get(name)
    if spec is None or not spec.recursive:
        return False
    try:
        return spec.reads_folders(sort_words(spec, tuple(map(literal, rest)), _quote).names)
    except Unlisted:
        return True


def _read(simple: Simple, spec: Spec, given: Given, paths: list[Word], form: str, ground: Ground) -> Finding:
    """Judge a command whose flags are all harmless. Raises Unlisted and ToolFailure."""
    if pattern := next((pattern for pattern in given.globs if names_secret(pattern)), ""):
        raise NamesSecret(f"{pattern} names files that may hold secrets")
    found = _find_places(paths, ground)
    if spec.reads_folders(given.names):
        found = found or ground.find(".")
        if any(ground.holds_own_state(one.path) for one in found):
            return Finding(
                make_part(simple.source, Effect.READ_ONLY, "Halocline's own files are in that folder"), Rule.OUTSIDE
            )
        if ground.hides_files:
            return Finding(make_part(simple.source, Effect.READ_ONLY, _HIDDEN), Rule.SECRET)
    return judge_reading(simple.source, found, form, names_only=spec.names_only)


def _mark_status(word: Word) -> Word:
    """Return `$?` as a known word: it is always a number."""
    if _STATUS.fullmatch(word.source):
        return Word(word.source, (Piece(word.source),), quoted=True, verbatim=True)
    return word


def _quote(text: str) -> str:
    import shlex

    return shlex.quote(text)


def _operand_roles(spec: Spec, given: Given) -> tuple[Role, ...]:
    shifted = set(spec.shifted.split()) & set(given.names)
    return spec.operands[1:] if shifted and len(spec.operands) > 1 else spec.operands


def _require(spec: Spec, given: Given) -> list[Word]:
    """Return the operands that are paths; require all others to be harmless. Raises Unlisted."""
    if not spec.least <= len(given.operands) <= spec.most:
        raise Unlisted("it has too few or too many arguments to be known as harmless")
    roles, paths = _operand_roles(spec, given), []
    for number, word in enumerate(given.operands):
        role = roles[min(number, len(roles) - 1)]
        if word.checked and role is Role.PROGRAM and (numbered := with_numbers(word)):
            given.operands[number] = word = numbered
        if word.dynamic:
            raise Unlisted(f"{word.source}: {word.dynamic}")
        if word.is_pattern and spec.most < len(given.operands) + MOST_NAMES:
            raise Unlisted(f"{word.source} may match more names than are known to be harmless")
        if word.checked and not (role is Role.PATH or (role is Role.TEXT and spec.ends and not spec.ordered)):
            raise Unlisted(f"{word.source} is known only when it runs")
        behind = spec.ends and (not spec.ordered or 0 <= given.split <= number)
        if word.is_pattern and word.pieces[0].active and not behind and set(spec.operands) != {Role.TEXT}:
            raise Unlisted(f"{word.source} may expand to a flag; write ./{word.source}")
        match role:
            case Role.PATH:
                paths.append(word)
                given.operands[number] = as_name(word) if word.checked else word
            case Role.PROGRAM:
                given.programs.append(word.text)
        if role in (Role.TEXT, Role.PROGRAM) and (word.is_pattern or (word.text.startswith("~") and not word.quoted)):
            if set(spec.operands) != {Role.TEXT} or (not number and spec.extra):
                raise Unlisted(f"{word.source}: the shell may expand it; quote it")
            paths.append(word)
    for text in given.programs:
        if spec.program and (fault := spec.program(text)):
            raise Unlisted(fault)
    if spec.extra and (fault := spec.extra(given)):
        raise Unlisted(fault)
    return paths


def _find_places(paths: list[Word], ground: Ground) -> list[Found]:
    """Return where the paths lead. Raises Unlisted and ToolFailure."""
    found: list[Found] = []
    for word in paths:
        if word.text == "-":
            continue
        if word.text.startswith("~") and not word.quoted and word.text[1:2] not in ("", "/"):
            raise Unlisted(f"{word.source} may be another user's home folder")
        names = ground.names(word)
        if names is None:
            raise Unlisted(f"{word.source} matches too many names")
        for name in names:
            found += ground.find(name, quoted=word.quoted)
        if word.is_pattern:
            found += ground.targets(folder_of(word))
    return found


def _build_form(name: str, spec: Spec, given: Given) -> str:
    added = spec.added if spec.reads_folders(given.names) or not spec.recursive else ()
    operands = [render(word) for word in given.operands]
    if spec.ordered:
        return " ".join((name, *added, *(part if isinstance(part, str) else operands[part] for part in given.order)))
    end = ["--"] if spec.ends and operands else []
    return " ".join((name, *given.flags, *added, *end, *operands))


def _judge_git(simple: Simple, ground: Ground) -> Finding:
    words = list(simple.words[1:])
    folder, front = _take_git_options(words), "git "
    if folder is not None:
        if any(word.is_pattern for word in words):
            return unknown_finding(
                simple.source, "the shell expands the pattern in a different folder than git -C; quote it"
            )
        moved = judge_reading(simple.source, ground.find(folder.text, quoted=folder.quoted), "", names_only=True)
        if not moved.reads or any(one.place is not Place.PROJECT for one in ground.find(folder.text)):
            return (
                moved
                if not moved.reads
                else unknown_finding(
                    simple.source, "git -C leads to a folder that other programs run or read as configuration"
                )
            )
        ground, front = ground.with_folders(one.path for one in ground.find(folder.text)), f"git -C {render(folder)} "
    if not words or words[0].value is None:
        return unknown_finding(
            simple.source, "nothing is known about this form of git", Rule.DYNAMIC if words else Rule.UNKNOWN
        )
    name, *rest = git_operands.rewrite_stash(tuple(words))
    if name.text.startswith("-"):
        return unknown_finding(simple.source, f"git's option {name.text} may change what it reads or runs")
    if name.text not in git.LOOKS:
        return unknown_finding(simple.source, f"git {name.text} may change the repository")
    finding = _judge_git_by_spec(name.text, git.LOOKS[name.text], simple, tuple(rest), ground)
    if finding.rule is not Rule.READS:
        return finding
    doubt = next((doubt for place in ground.folders if (doubt := ground.facts.git_doubt(place))), "")
    form = f"{front}{str(finding.canonical).removeprefix('git ')}"
    return unknown_finding(simple.source, doubt) if doubt else replace(finding, canonical=form)


def _take_git_options(words: list[Word]) -> Word | None:
    """Remove `--no-pager` and `-C FOLDER` from the words; return the folder."""
    folder = None
    while words and words[0].value in ("--no-pager", "-C"):
        if words.pop(0).text == "-C":
            if folder or not words or not words[0].value or words[0].checked:
                words.insert(0, literal("-C"))
                return None
            folder = words.pop(0)
    return folder


def _judge_git_by_spec(name: str, spec: Spec, simple: Simple, words: tuple[Word, ...], ground: Ground) -> Finding:
    try:
        given = sort_words(spec, tuple(map(without_parents, words)), _quote)
        if spec.extra and (fault := spec.extra(given)):
            raise Unlisted(fault)
        if spec.operands == (Role.NAMED,):
            paths = [*given.paths, *git_operands.judged_words(name, spec, given, ground)]
        else:
            paths = _require(spec, given)
        finding = _read(simple, spec, given, paths, "", ground)
        form = git_operands.render_git(name, spec, given, ground) if finding.rule is Rule.READS else None
        return replace(finding, canonical=form)
    except (Unlisted, ToolFailure) as why:
        return _refuse(simple, spec, why)
