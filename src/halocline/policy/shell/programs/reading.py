"""Judge the words of a program that only reads by its row in the tables, and make the form in which it runs."""

from collections.abc import Sequence

from msgspec.structs import replace

from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.guards import as_name, with_numbers
from halocline.policy.shell.places import folder_of, judge_reading
from halocline.policy.shell.programs.exclusions import names_secret
from halocline.policy.shell.programs.flags import sort_words, without_parents
from halocline.policy.shell.programs.git.operands import operands_of_git, render_git
from halocline.policy.shell.programs.git.read_only import LOOKS
from halocline.policy.shell.programs.leaving_out import LEAVES_OUT, build_exclusion_flags, render_find
from halocline.policy.shell.programs.specs import Given, NamesHidden, NamesSecret, Role, Spec, Unlisted
from halocline.policy.shell.programs.tables import READERS
from halocline.policy.shell.syntax.tree import Piece, Simple, Word, literal, render
from halocline.policy.shell.values.ground import Found, Ground
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect

MOST_NAMES = 900
_STATUS = compile_later(r"\$\?|\"[\w .,:;=()/+-]*\$\?[\w .,:;=()/+-]*\"")


def judge_by_spec(
    name: str, spec: Spec, simple: Simple, words: tuple[Word, ...], ground: Ground, *, git: bool = False
) -> Finding:
    """Judge the words of a program, or those behind a command of `git`, by its row in the tables."""
    if spec.looks_up and "PATH" in ground.exported:
        return unknown_finding(simple.source, "an earlier command changed PATH, which its answer depends on")
    if name in ("echo", "printf"):
        # `$?` is always a number.
        known = [Word(word.source, (Piece(word.source),), quoted=True, verbatim=True) for word in words]
        words = tuple(one if _STATUS.fullmatch(one.source) else word for one, word in zip(known, words, strict=True))
    try:
        given = sort_words(spec, tuple(map(without_parents, words)))
        named = spec.operands == (Role.NAMED,)
        operands = operands_of_git(name, spec, given, ground) if named else _require_operands(spec, given)
        paths = [*given.paths, *operands]
        finding = _judge_given(simple, spec, given, paths, ground)
        if not finding.reads:
            return finding
        form = render_git(name, spec, given, ground) if git else _build_form(name, spec, given, paths, ground)
        # As written, a name may stand for a file: only the form takes it for a commit.
        return replace(finding, canonical=form, as_written=Rule.HISTORY if git and "^{commit}" in form else None)
    except (NamesSecret, NamesHidden) as why:
        return Finding(make_part(simple.source, Effect.READ_ONLY, str(why)), why.rule)
    except Unlisted as why:
        return unknown_finding(simple.source, str(why), Rule.SECRET if spec.recursive else Rule.UNKNOWN)
    except ToolFailure as why:
        return unknown_finding(simple.source, why.text, Rule.DYNAMIC)


def may_read_folders(words: Sequence[str], *, names: bool = False) -> bool:
    """Return True if a command as written shows whole folders, including secrets, or may; with `names`, their names."""
    name, *rest = words or ("",)
    name = name.rpartition("/")[2]
    if name == "git":
        sub = next((at for at, word in enumerate(rest) if word in LOOKS), len(rest))
        spec, rest = LOOKS.get("".join(rest[sub : sub + 1])), rest[sub + 1 :]
    else:
        spec = READERS.get(name)
    if spec is None or not spec.recursive:
        return bool(names and spec and (spec.listing or name in LEAVES_OUT))
    try:
        given = sort_words(spec, tuple(map(literal, rest))).names
        return spec.reads_folders(given) or (names and spec.lists_names(given))
    except Unlisted:
        return True


def _judge_given(simple: Simple, spec: Spec, given: Given, paths: list[Word], ground: Ground) -> Finding:
    """Judge a command whose flags are all harmless. Raises Unlisted and ToolFailure."""
    if pattern := next((pattern for pattern in given.globs if names_secret(pattern)), ""):
        raise NamesSecret(f"{pattern} names files that may hold secrets")
    found = _find_places(paths, ground)
    if spec.reads_folders(given.names):
        found = found or ground.find(".")
        if any(ground.holds_own_state(one.path) for one in found):
            shown = make_part(simple.source, Effect.READ_ONLY, "Halocline's own files are in that folder")
            return Finding(shown, Rule.OUTSIDE)
    return judge_reading(simple.source, found, "", ground, names_only=spec.names_only)


def _require_operands(spec: Spec, given: Given) -> list[Word]:
    """Return the operands that are paths; require all others to be harmless. Raises Unlisted."""
    if not spec.least <= len(given.operands) <= spec.most:
        raise Unlisted("it has too few or too many arguments to be known as harmless")
    shifted = len(spec.operands) > 1 and not set(spec.shifted.split()).isdisjoint(given.names)
    roles, paths = spec.operands[1:] if shifted else spec.operands, []
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


def _build_form(name: str, spec: Spec, given: Given, paths: list[Word], ground: Ground) -> str:
    """Return the form of a command without secrets and hidden names. Raises Unlisted if it has none."""
    reads_folders = spec.reads_folders(given.names)
    added = spec.added if reads_folders or not spec.recursive else ()
    operands = [render(word) for word in given.operands]
    if ground.hides and (reads_folders or (name in LEAVES_OUT and not spec.recursive)):
        if name == "find":
            return render_find(given, operands, ground)
        below = _find_places(paths, ground) or ground.find(".")
        added = (*added, *build_exclusion_flags(name, given, below, ground, names=spec.names_only))
    if spec.ordered:
        return " ".join((name, *added, *(part if isinstance(part, str) else operands[part] for part in given.order)))
    end = ["--"] if spec.ends and operands else []
    return " ".join((name, *given.flags, *added, *end, *operands))
