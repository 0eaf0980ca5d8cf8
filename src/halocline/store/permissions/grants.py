"""The file of leave that was given for good: a table is added at its end, or taken out, and all else stays as it is.

What must stay true: whoever adds or takes out holds the folder's lock, so that neither undoes the other; a file that is
not understood wholly is not written.
"""

import os
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.files.regular import read_regular
from halocline.protocol.file_locks import lock_folder
from halocline.protocol.permission_rules import Rule, Source
from halocline.protocol.private_files import make_private_folder
from halocline.store.atomic_file import sync_names, write_whole
from halocline.store.permissions.rules import Unreadable, bare_rule, read_rules

_TABLE = "[[rule]]"
_CHANGES = "is changing the rules that you gave for good"
FOREIGN = "{path} is not written as rules of ours are; take the rule out of it yourself"


def keep_grant(path: Path, rule: Rule, by: str = "") -> None:
    """Add a rule, unless it is there; `by` says who gave the leave. Raises OSError, also for a file that is damaged."""
    import time

    make_private_folder(path.parent)
    with lock_folder(path.parent, _CHANGES):
        if not any(bare_rule(one) == rule for one in _known_rules(path)):
            reason = f"you allowed it for good on {time.strftime('%Y-%m-%d')}{f' ({by})' if by else ''}"
            _append_table(path, replace(rule, reason=reason))


def take_out(path: Path, rule: Rule) -> bool:
    """Remove the rules that are this one, whatever their names. False when there is none.

    Raises:
        OSError: the file cannot be written, or is damaged, or not written as rules of ours are.
    """
    with lock_folder(path.parent, _CHANGES):
        known = _known_rules(path)
        wanted = [at for at, one in enumerate(known) if bare_rule(one) == bare_rule(rule)]
        if not wanted:
            return False
        real = Path(os.path.realpath(path))
        write_whole(real, _without_tables(path, read_regular(real).decode("utf-8-sig"), wanted, len(known)).encode())
    return True


def _known_rules(path: Path) -> list[Rule]:
    try:
        return read_rules(path, Source.GRANT)
    except Unreadable as error:
        raise OSError(str(error)) from None


def _without_tables(path: Path, text: str, wanted: list[int], count: int) -> str:
    """The text without these tables. Comments and empty lines behind a table belong to what follows."""
    lines = text.splitlines(keepends=True)
    heads = [at for at, line in enumerate(lines) if line.strip().startswith("[")]
    tables = [at for at in heads if lines[at].split("#")[0].strip() == _TABLE]
    if len(tables) != count:
        raise OSError(FOREIGN.format(path=path))
    gone: set[int] = set()
    for begin in (tables[at] for at in wanted):
        end = next((head for head in heads if head > begin), len(lines))
        while end > begin and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        gone.update(range(begin, end))
    left = "".join(line for at, line in enumerate(lines) if at not in gone)
    if _parse_tables(left) != [table for at, table in enumerate(_parse_tables(text) or ()) if at not in wanted]:
        raise OSError(FOREIGN.format(path=path))
    return left


def _parse_tables(text: str) -> list[object] | None:
    """The rules of a text as they stand in it; None for one that is no TOML."""
    import tomllib

    try:
        return list(tomllib.loads(text).get("rule", []))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _append_table(path: Path, rule: Rule) -> None:
    """Write one more table at the end: what is there, comments too, stays as it is."""
    given = {name: value for name, value in msgspec.to_builtins(rule).items() if value and name != "source"}
    lines = [f"{name} = {msgspec.json.encode(value).decode()}" for name, value in given.items()]
    table = "\n".join(["", _TABLE, *lines, ""]).encode()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        if os.write(file, table) != len(table):
            raise OSError("the disk took only a part of it")
        os.fsync(file)
    finally:
        os.close(file)
    sync_names(path.parent)
