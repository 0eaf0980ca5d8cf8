"""Find the names that commands print for other commands: through a pipe, in `$(…)`, by `find -exec`.

Only flags and names that lead to protected places are kept apart. All others count as one, however many there are.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec.structs import replace

from halocline.policy.shell.programs.shell_builtins import BUILTINS
from halocline.policy.shell.programs.wrappers import find_innermost, unwrap_command
from halocline.policy.shell.syntax.parse import NotUnderstood, parse_command
from halocline.policy.shell.syntax.tree import Block, Chain, Node, Piece, Redirect, Simple, Word, every_node
from halocline.policy.shell.values.ground import Found, Ground
from halocline.policy.shell.values.kept_places import BENEATH, INSIDE, is_narrowed, leads_to_kept, leads_to_precious
from halocline.policy.shell.values.name_patterns import GLOB
from halocline.policy.shell.values.printed_texts import print_text, split_text
from halocline.policy.shell.values.variables import UNKNOWN, Values, changed_by, values_of
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Place
from halocline.protocol.values import set_of

FILTERS = set_of("sort uniq head tail grep egrep fgrep sed awk tac")
_PRINTS_CONTENT = FILTERS | set_of("tr cut nl cat tee rev paste column comm join shuf jq zcat xxd od")
_PRINTS_NOTHING = BUILTINS - {"echo", "printf", "dirs", "pushd", "popd"}
_GIT_INSIDE = frozenset({"ls-files", "diff", "grep", "status", "show", "ls-tree", "log"})
_HIDDEN_TOO = compile_later(r"-[a-zA-Z]*[uH.][a-zA-Z]*|--hidden|--unrestricted|--no-ignore(-vcs)?")
PIPES = frozenset({"|", "|&"})
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_MOST = 4
_DEEPEST = 3
Expand = Callable[[Simple, Ground], Simple]


def names_printed(nodes: Iterable[Node], ground: Ground, expand: Expand, depth: int = 0) -> Values:
    """Return the names that a pipeline's commands print: flags, names that lead to protected places, one for the rest.

    That one is `INSIDE`, or a NUL if nothing is known about them.
    """
    found: list[str] = []
    for number, node in enumerate(nodes):
        within = () if isinstance(node, Simple) else _simple_commands(node)
        moves = any(simple.program in ("cd", "pushd", "popd") for simple in within)
        here = ground.with_folders((*ground.starts, UNKNOWN)) if moves else ground
        here = here if isinstance(node, Simple) else _with_variables_set(node, here, expand)
        for simple in _simple_commands(node, ground.functions):
            if not (number and _is_filter(node)):
                found += _names_printed(expand(simple, here), here, expand, depth)
    return _keep_relevant(found, ground)


def names_found(simple: Simple, ground: Ground) -> Values:
    """Return the names that an expanded `find` or `fd` passes to the program that it runs."""
    found = _found_by_find(simple, ground) if simple.program == "find" else _found_by_search(simple, ground)
    return _keep_relevant(found, ground)


def _with_variables_set(node: Node, ground: Ground, expand: Expand) -> Ground:
    """Return the ground in which each variable set below a node may have any of the values assigned to it."""
    for here in every_node(node, ordered=True):
        match here:
            case Block(kind="loop" | "select", name=name, words=words) if name != "((":
                ground = _with_names(name, expand(Simple("", words), ground).words, ground)
            case Simple(assignments=(_, *_)):
                for one in expand(here, ground).assignments:
                    ground = _with_names(one.name, one.values or (one.value,), ground)
            case Simple(words=(_, *_)):
                expanded = expand(here, ground)
                fed = names_behind(expanded.redirects, ground, expand)
                after = changed_by(expanded, ground.variables, fed)
                ground = ground.with_variables(ground.variables.merge(after))
    return ground


def names_behind(redirects: Iterable[Redirect], ground: Ground, expand: Expand) -> Values:
    """Return the names that come from texts and commands after redirections."""
    targets = [(one.operator, one.target) for one in redirects if one.target]
    texts = [text for sign, word in targets if sign[:2] == "<<" for text in values_of(word)]
    scripts = [script for sign, word in targets if sign == "<" for script in word.scripts]
    texts += [text for script in scripts if (text := find_echoed(script, ground, expand))]
    read = [line for text in texts for line in split_text(text)]
    return (*read, *(names_printed(scripts, ground, expand) if scripts else ()))


def find_echoed(node: Node, ground: Ground, expand: Expand) -> str:
    """Return the text that a command only prints, behind wrappers too; empty if it does anything else."""
    simple = find_innermost(expand(node, ground)) if isinstance(node, Simple) else Simple("", ())
    if simple.program not in ("echo", "printf"):
        return ""
    values = [word.value for word in simple.words if word.value is not None]
    return print_text(values) if len(values) == len(simple.words) else ""


def _with_names(variable: str, words: Sequence[Word], ground: Ground) -> Ground:
    names = _keep_relevant(_texts_of(words, ground), ground)
    return ground.with_variables(ground.variables.perhaps([variable], names))


def _keep_relevant(found: Sequence[str], ground: Ground) -> Values:
    hidden = dict.fromkeys(_list_hidden(found, ground) if ground.hides_names else ())
    leads = leads_to_kept, leads_to_precious
    names = (one for one in found if one[:1] == "-" or any(led(one, ground) for led in leads))
    kept = [*dict.fromkeys((*hidden, *names))]
    unknown = any(UNKNOWN in one and one not in (INSIDE, *kept) and not one.endswith(BENEATH) for one in found)
    return (*kept[:_MOST], UNKNOWN if unknown else INSIDE)


def _list_hidden(texts: Iterable[str], ground: Ground) -> Iterator[str]:
    """Yield the hidden names, those that patterns match, and those in which unknown parts are nothing."""
    for text in texts:
        if text != INSIDE and not text.endswith(BENEATH):
            unsure = UNKNOWN in text or GLOB.search(text)
            word = Word("", (Piece(text.replace(UNKNOWN, ""), active=True),))
            names = ground.names(word) or () if unsure else (text,)
            yield from (one for one in names if ground.hides_text(one))


def _simple_commands(node: Node, functions: Mapping[str, Sequence[Block]] | None = None) -> Iterator[Simple]:
    """Yield the simple commands in a node and in functions that it calls, but not those inside words."""
    waiting, called = [node], set[str]()
    while waiting:
        match waiting.pop():
            case Simple() as simple:
                yield simple
                name = simple.program
                if functions and name in functions and name not in called:
                    called.add(name)
                    waiting += (item for block in functions[name] for item in block.items)
            case Chain(items=items, joints=joints):
                piped = (joint in PIPES for joint in ("", *joints))
                waiting += (one for one, behind in zip(items, piped, strict=False) if not (behind and _is_filter(one)))
            case Block(items=items):
                waiting += items


def _is_filter(node: Node) -> bool:
    """Return True if a command after a pipe prints only what it reads."""
    return isinstance(node, Simple) and node.program in FILTERS and not _is_recursive_search(node)


def _is_recursive_search(simple: Simple) -> bool:
    texts = [word.text for word in simple.words[1:]]
    return "grep" in simple.program and any(re.match(r"-\w*[rR]|--(dereference-)?rec", text) for text in texts)


def _names_printed(simple: Simple, ground: Ground, expand: Expand, depth: int) -> Iterable[str]:
    """Return what one expanded command prints."""
    if (simple.redirects and not simple.words) or simple.program in _PRINTS_CONTENT:
        inner = [script for word in simple.words for script in word.scripts]
        given = names_behind(simple.redirects, ground, expand) + (names_printed(inner, ground, expand) if inner else ())
        key = (read := given or ground.fed), ground.starts, len(ground.links.pairs)
        if key not in ground.relevant:
            ground.relevant[key] = _keep_relevant(read, ground)
        ground = replace(ground, fed=ground.relevant[key])
    if not simple.words:
        return [*ground.fed, UNKNOWN] if simple.redirects else ()
    if simple.program == "find":
        runs = any(word.text in _RUNS for word in simple.words[1:])
        return [*_found_by_find(simple, ground), *([UNKNOWN] if runs else [])]
    if depth < _DEEPEST and (wrapped := unwrap_command(simple)) is not None:
        if wrapped.script is None:
            return _names_printed(Simple(wrapped.source, wrapped.words), ground, expand, depth + 1)
        try:
            return names_printed([parse_command(wrapped.script)], ground, expand, depth + 1)
        except NotUnderstood:
            return [UNKNOWN]
    return _names_by_program(simple, ground)


def _names_by_program(simple: Simple, ground: Ground) -> Iterable[str]:
    """Return what one expanded command prints that runs no other one."""
    name, texts = simple.program, [word.text for word in simple.words[1:]]
    match name:
        case "echo" | "printf":
            values = [word.value for word in simple.words if word.value is not None]
            if len(values) == len(simple.words):
                return split_text(print_text(values))
            return _texts_of(simple.words[1 if name == "echo" else 2 :], ground)
        case "git":
            inside = any(text in _GIT_INSIDE for text in texts[:3])
            return [INSIDE if inside else UNKNOWN]
        case "rg" | "fd" | "fdfind":
            return _found_by_search(simple, ground)
        case "grep" | "egrep" | "fgrep" if _is_recursive_search(simple):
            narrow = any(re.match(r"--include|--exclude-dir=\W*\.git", text) for text in texts)
            return _names_of_search(simple, ground) if narrow else _all_below(_searched_places(simple), ground)
        case "grep" | "egrep" | "fgrep" if any(re.match(r"-\w*[lL]", text) for text in texts):
            return _texts_of(simple.words[1:], ground)
        case "du" | "tree":
            return _all_below(list_operands(simple), ground)
        case "ls":
            return _names_listed(simple, ground)
        case _ if name in _PRINTS_NOTHING or name in ground.functions:
            return ()
        case _ if name in _PRINTS_CONTENT:  # with `F` of `sed` and `FILENAME` of `awk`, names too
            named = name in ("head", "tail", "shuf") or (name in ("sed", "awk") and any("F" in text for text in texts))
            return [*(_texts_of(simple.words[1:], ground) if named else ()), *ground.fed, UNKNOWN]
    return [*(text for text in _texts_of(simple.words[1:], ground) if not text.startswith("-")), UNKNOWN]


def list_operands(simple: Simple) -> list[Word]:
    """Return the words that are not flags; one that is known only at run time may be none."""
    return [word for word in simple.words[1:] if word.dynamic or not word.text.startswith("-")]


def _texts_of(words: Iterable[Word], ground: Ground) -> list[str]:
    """Return the words as separate names."""
    found: list[str] = []
    for word in words:
        for one in word.possible:
            names = ground.names(one) if UNKNOWN not in one.text else [one.text]
            found += [part for name in names or [UNKNOWN] for part in name.split()]
        if word.dynamic:
            found.append(UNKNOWN)
    return found


def _found_by_search(simple: Simple, ground: Ground) -> list[str]:
    """Return what `rg` and `fd` find; they skip hidden files unless a flag says otherwise."""
    texts = [word.text for word in simple.words]
    end = next((at for at, text in enumerate(texts) if text in _RUNS), len(texts))
    simple = Simple(simple.source, simple.words[:end])
    hidden = any(map(_HIDDEN_TOO.fullmatch, texts[:end]))
    if not hidden:
        return _names_of_search(simple, ground)
    return [*_all_below((), ground), *_all_below(_searched_places(simple), ground)]


def _names_of_search(simple: Simple, ground: Ground) -> list[str]:
    """Return what a search without hidden files finds: nothing protected unless it starts at Halocline's files."""
    return [*_with_own_state(_all_below(_searched_places(simple), ground), ground), INSIDE]


def _searched_places(simple: Simple) -> list[Word]:
    """Return the places that a search looks in. The first word is the pattern, unless a flag gives it."""
    operands = list_operands(simple)
    has_pattern = any(re.match(r"-[a-zA-Z]*[ef]|--regexp|--file|--files", word.text) for word in simple.words[1:])
    return operands if has_pattern else operands[1:]


def _with_own_state(below: Sequence[str], ground: Ground) -> list[str]:
    return [one for one in below if any(ground.holds_own_state(found.path) for found in _folder_of(one, ground))]


def _folder_of(below: str, ground: Ground) -> list[Found]:
    text = below.removesuffix(BENEATH)
    return ground.targets(Word(text, (Piece(text),)))


def _all_below(words: Sequence[Word], ground: Ground) -> list[str]:
    """Return everything below some folders, as far as they are known; without any, below the current folder."""
    starts = _texts_of(words, ground) if words else ["."]
    return [f"{'.' if UNKNOWN in one else one.rstrip('/')}/{BENEATH}" for one in starts]


def _names_listed(simple: Simple, ground: Ground) -> list[str]:
    """Return what `ls` prints: contents of folders relative to each folder, named files as written."""
    flags = {letter for word in simple.words[1:] if word.text.startswith("-") for letter in word.text}
    below = _all_below(list_operands(simple), ground)
    named = [one for one in _texts_of(list_operands(simple), ground) if "d" in flags or leads_to_kept(one, ground)]
    hidden = [".", "..", ".git"] if flags & set("aAf") else []
    whole = (place for one in below for place in _folder_of(one, ground) if place.place is Place.OUTSIDE)
    above = [place.path for place in whole if ground.is_precious(place.path)]  # who deletes its entries deletes it
    return [*(below if "R" in flags else _with_own_state(below, ground)), *hidden, *named, *above, INSIDE]


def starts_of_find(simple: Simple) -> list[Word]:
    """Return the words before the tests of `find`."""
    return list(takewhile(lambda word: word.dynamic or word.text[:1] not in ("-", "(", "!"), simple.words[1:]))


def _found_by_find(simple: Simple, ground: Ground) -> list[str]:
    """Return what `find` finds: everything below its start folders, unless its tests exclude protected places."""
    words, texts = simple.words[1:], [word.text for word in simple.words[1:]]
    starts = starts_of_find(simple)
    below = _all_below(starts, ground)
    listed = any(one.text.endswith(BENEATH) for word in starts for one in word.could)
    within = listed or any("/.git/" in f"{found.path}/" for one in below for found in _folder_of(one, ground))
    unknown = any(word.dynamic for word in words)
    begins = [*(one.removesuffix(f"/{BENEATH}") for one in below), *(["/anywhere"] if unknown else [])]
    narrowed = is_narrowed(texts, [] if within else begins)
    kept = _with_own_state(below, ground) if narrowed else below
    itself = [] if narrowed or {"-type", "-mindepth"} & set(texts) else _texts_of(starts, ground) or ["."]
    return [*kept, *itself, UNKNOWN if unknown else INSIDE]
