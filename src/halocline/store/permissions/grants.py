"""The file of permanent grants: adds a table at its end or removes one; everything else stays as it is.

What must stay true: every change holds the folder's lock, so that none undoes another; a file that is not fully
understood is not written.
"""

import os
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.files.durable import sync_path, write_whole
from halocline.files.regular import read_regular
from halocline.protocol.file_locks import lock_folder
from halocline.protocol.permission_rules import Rule, Source
from halocline.protocol.private_files import make_private_folder
from halocline.store.permissions.rules import Unreadable, bare_rule, read_rules

_TABLE = "[[rule]]"
_CHANGES = "is changing your permanent grants"
FOREIGN = "{path} was edited in a way that cannot be changed automatically; remove the rule from it yourself"


def keep_grant(path: Path, rule: Rule, by: str = "") -> None:
    """Add a rule, unless it exists; `by` says who granted it. Raises OSError, also if the file is damaged."""
    import time

    make_private_folder(path.parent)
    with lock_folder(path.parent, _CHANGES):
        if not any(bare_rule(one) == rule for one in _known_rules(path)):
            reason = f"you always allowed this on {time.strftime('%Y-%m-%d')}{f' ({by})' if by else ''}"
            _append_table(path, replace(rule, reason=reason))


def take_out(path: Path, rule: Rule) -> bool:
    """Remove all rules equal to this one, regardless of their names. False if there are none.

    Raises:
        OSError: the file cannot be written, is damaged, or has another layout than ours.
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
    """Return the text without these tables. Comments and empty lines after a table belong to what follows."""
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
    """Parse the raw rules of a text; None if it is not TOML."""
    import tomllib

    try:
        return list(tomllib.loads(text).get("rule", []))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _append_table(path: Path, rule: Rule) -> None:
    """Append a table; everything else, comments too, stays as it is."""
    given = {name: value for name, value in msgspec.to_builtins(rule).items() if value and name != "source"}
    lines = [f"{name} = {msgspec.json.encode(value).decode()}" for name, value in given.items()]
    table = "\n".join(["", _TABLE, *lines, ""]).encode()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        if os.write(file, table) != len(table):
            raise OSError("only part of the rule could be written")
        os.fsync(file)
    finally:
        os.close(file)
    sync_path(path.parent)
