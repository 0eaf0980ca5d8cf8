"""Index of the tasks for lists and searches: a SQLite database, derived from the logs.

When a log's size or time has changed, reading continues where it stopped. A damaged, missing or outdated index is
silently rebuilt. Processes share it; if it cannot be written, it is kept in memory. Without FTS5, searches scan words.
"""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.protocol import codec, json_input
from halocline.protocol.queries.tasks import MARKS, TaskInfo, TaskQuery, fits_query, order_tasks
from halocline.protocol.values import Value
from halocline.store.tasks.index_facts import Facts, Words, learn_facts, nothing_known
from halocline.store.tasks.renamed import NOWHERE, FoldersHere

VERSION = 5
PATIENCE = 5.0
"""Seconds to wait for another process that is writing the index."""
PIECE = 4_000_000
"""Bytes of a log to read at a time."""
BATCH = 200
"""Tasks per transaction."""
TRIGRAMS = (3, 34)
"""First SQLite version with the trigram tokenizer."""
LIKE = 0.5
"""Minimum share of a word's trigrams that a similar name must have."""
FEW = MOST_LIKE = 20
"""With fewer exact matches than `FEW`, up to `MOST_LIKE` tasks with similar names are found too."""
MOST_SNIPPETS = 50
"""Maximum tasks with a snippet; a full list does not need them."""
_WEIGHTS = "8.0, 4.0, 2.0, 1.0, 2.0"
_COLUMNS = "name, prompts, answers, actions, paths"
_TASKS = """CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, task TEXT NOT NULL UNIQUE, size INTEGER, mtime INTEGER, inode INTEGER, offset INTEGER,
    info BLOB NOT NULL
)"""
_WITH_FTS = (
    f"CREATE VIRTUAL TABLE words USING fts5({_COLUMNS}, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')",
    "CREATE VIRTUAL TABLE names USING fts5(name, tokenize = trigram)",
)
_WITHOUT_FTS = (f"CREATE TABLE words ({_COLUMNS})", "CREATE TABLE names (name)")
_info = json_input.Decoder(TaskInfo)
_encode = msgspec.json.Encoder().encode


class Known(Value, frozen=True):
    """State of a log when it was last read, and how far."""

    id: int
    size: int
    mtime: int
    inode: int
    offset: int


class TaskIndex:
    """Index of the tasks in a folder, stored in a file; `here` may be renamed folders of tasks."""

    def __init__(self, file: Path, tasks: Path, here: FoldersHere = NOWHERE) -> None:
        self._file = file
        self._tasks = tasks
        self._here = here

    def find(self, query: TaskQuery) -> list[TaskInfo]:
        """Return the tasks that match a query, according to their current logs."""
        try:
            return self._run_query(self._file, query)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and _is_of_others(error):
                return self._run_query(None, query)
        for name in (self._file.name, f"{self._file.name}-wal", f"{self._file.name}-shm"):
            self._file.with_name(name).unlink(missing_ok=True)
        try:
            return self._run_query(self._file, query)
        except sqlite3.DatabaseError:
            return self._run_query(None, query)

    def _run_query(self, file: Path | None, query: TaskQuery) -> list[TaskInfo]:
        with closing(_open_database(file)) as database:
            refresh_index(database, self._tasks)
            return _choose_tasks(database, query, self._here.adding(query.workspace))


def _is_of_others(error: sqlite3.OperationalError) -> bool:
    """True if the file itself is fine, but cannot be written here or is locked by another process."""
    return any(word in str(error) for word in ("locked", "readonly", "unable to open", "disk is full"))


def _open_database(file: Path | None) -> sqlite3.Connection:
    if file is not None:
        with suppress(OSError):
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    database = sqlite3.connect(file or ":memory:", timeout=PATIENCE, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            _make_anew(database)
        database.execute("COMMIT")
    except BaseException:
        database.close()
        raise
    return database


def _make_anew(database: sqlite3.Connection) -> None:
    for table in ("tasks", "words", "names"):
        database.execute(f"DROP TABLE IF EXISTS {table}")
    database.execute(_TASKS)
    for statement in _WITH_FTS if _has_fts(database) else _WITHOUT_FTS:
        database.execute(statement)
    database.execute(f"PRAGMA user_version = {VERSION}")


def _has_fts(database: sqlite3.Connection) -> bool:
    modules = database.execute("SELECT name FROM pragma_module_list WHERE name = 'fts5'")
    return modules.fetchone() is not None and sqlite3.sqlite_version_info >= TRIGRAMS


def refresh_index(database: sqlite3.Connection, tasks: Path) -> None:
    """Read new lines of the logs, and remove deleted tasks."""
    known = _known_tasks(database)
    there = dict(_list_logs(tasks))
    changed = [task for task, stat in there.items() if _has_changed(known.get(task), stat)]
    gone = [known[task].id for task in known.keys() - there.keys()]
    for start in range(0, len(changed), BATCH):
        database.execute("BEGIN IMMEDIATE")
        for task in changed[start : start + BATCH]:
            _read_on(database, tasks / task, there[task])
        database.execute("COMMIT")
    if gone:
        database.execute("BEGIN IMMEDIATE")
        for number in gone:
            _forget_task(database, number)
        database.execute("COMMIT")


def _known_tasks(database: sqlite3.Connection) -> dict[str, Known]:
    rows = database.execute("SELECT task, id, size, mtime, inode, offset FROM tasks")
    return {task: Known(*rest) for task, *rest in rows}


def _list_logs(tasks: Path) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(tasks) as entries:
        for entry in entries:
            with suppress(OSError):  # not a task, or one that is being deleted
                yield entry.name, os.stat(f"{entry.path}/{codec.LOG_NAME}")


def _has_changed(known: Known | None, stat: os.stat_result) -> bool:
    return known is None or (known.size, known.mtime, known.inode) != (stat.st_size, stat.st_mtime_ns, stat.st_ino)


def _read_on(database: sqlite3.Connection, folder: Path, stat: os.stat_result) -> None:
    """Update one task, unless another process already has."""
    row = database.execute("SELECT id, size, mtime, inode, offset FROM tasks WHERE task = ?", (folder.name,)).fetchone()
    known = Known(*row) if row else None
    if not _has_changed(known, stat):
        return
    if known and (stat.st_size < known.offset or stat.st_ino != known.inode):  # the log was replaced
        _forget_task(database, known.id)
        known = None
    before = _load_facts(database, known.id) if known else nothing_known(folder.name)
    facts, offset = _read_facts(folder / codec.LOG_NAME, known.offset if known else 0, before)
    if not (facts.info.started_at or facts.info.workspace):
        return
    info = replace(facts.info, size=_folder_size(folder))
    state = (stat.st_size, stat.st_mtime_ns, stat.st_ino, offset, _encode(info))
    if known:
        changes = "size = ?, mtime = ?, inode = ?, offset = ?, info = ?"
        database.execute(f"UPDATE tasks SET {changes} WHERE id = ?", (*state, known.id))
        if facts.words != before.words:
            _forget_words(database, known.id)
            _write_words(database, known.id, facts)
    else:
        columns = "(size, mtime, inode, offset, info, task) VALUES (?, ?, ?, ?, ?, ?)"
        added = database.execute(f"INSERT INTO tasks {columns}", (*state, folder.name))
        _write_words(database, added.lastrowid or 0, facts)


def _write_words(database: sqlite3.Connection, number: int, facts: Facts) -> None:
    words = (getattr(facts.words, name) for name in Words.__struct_fields__)
    database.execute(f"INSERT INTO words (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", (number, *words))
    name = _plain_text(f"{facts.info.name} {facts.info.title}")
    database.execute("INSERT INTO names (rowid, name) VALUES (?, ?)", (number, name))


def _load_facts(database: sqlite3.Connection, number: int) -> Facts:
    (info,) = database.execute("SELECT info FROM tasks WHERE id = ?", (number,)).fetchone()
    words = database.execute(f"SELECT {_COLUMNS} FROM words WHERE rowid = ?", (number,)).fetchone()
    return Facts(_info.decode(info), Words(*words or ()))


def _forget_task(database: sqlite3.Connection, number: int) -> None:
    database.execute("DELETE FROM tasks WHERE id = ?", (number,))
    _forget_words(database, number)


def _forget_words(database: sqlite3.Connection, number: int) -> None:
    database.execute("DELETE FROM words WHERE rowid = ?", (number,))
    database.execute("DELETE FROM names WHERE rowid = ?", (number,))


def _read_facts(log: Path, offset: int, facts: Facts) -> tuple[Facts, int]:
    """Return the facts after all complete lines from `offset` on, and the offset of their end."""
    with suppress(FileNotFoundError), open(log, "rb") as file:
        file.seek(offset)
        torn = False
        while not torn and (lines := file.readlines(PIECE)):
            torn = not lines[-1].endswith(b"\n")
            whole = lines[:-1] if torn else lines
            facts, offset = learn_facts(facts, whole), offset + sum(map(len, whole))
    return facts, offset


def _folder_size(folder: Path) -> int:
    """Return the folder's size in bytes, without files that are being deleted."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{place}/{name}").st_size
    return total


def _choose_tasks(database: sqlite3.Connection, query: TaskQuery, here: FoldersHere) -> list[TaskInfo]:
    """Return the matching tasks in the requested order."""
    rows = database.execute("SELECT id, info FROM tasks")
    infos = {number: info for number, raw in rows if fits_query(info := here.locate(_info.decode(raw)), query)}
    if not (words := _WORD.findall(query.words)):
        return order_tasks(list(infos.values()), query)
    exact = _match_words(database, words)
    best = dict.fromkeys([*exact, *(_find_alike(database, words) if len(exact) < FEW else ())])
    numbers = {infos[number].task: number for number in best if number in infos}
    found = order_tasks([infos[number] for number in numbers.values()], query)
    snippets = _find_snippets(database, words, [numbers[info.task] for info in found[:MOST_SNIPPETS]])
    return [replace(info, snippet=snippets.get(numbers[info.task], "")) for info in found]


_WORD = re.compile(r"\w+")


def _match_words(database: sqlite3.Connection, words: list[str]) -> list[int]:
    """Return tasks with all words, of which the last may be a prefix; the best match first."""
    if not _is_fast(database):
        everything = _COLUMNS.replace(", ", " || ' ' || ")
        fitting = " AND ".join(f"{everything} LIKE ?" for _ in words)
        rows = database.execute(f"SELECT rowid FROM words WHERE {fitting}", [f"%{word}%" for word in words])
    else:
        by_rank = f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, {_WEIGHTS})"
        rows = database.execute(by_rank, (_match_query(words),))
    return [number for (number,) in rows]


def _match_query(words: list[str]) -> str:
    return " ".join(f'"{word}"' for word in words) + "*"


def _find_snippets(database: sqlite3.Connection, words: list[str], numbers: list[int]) -> dict[int, str]:
    """Return the matching passage of each task."""
    if not _is_fast(database):
        return {}
    begin, end = MARKS
    one = f"SELECT snippet(words, -1, '{begin}', '{end}', '…', 12) FROM words WHERE words MATCH ? AND rowid = ?"
    rows = ((number, database.execute(one, (_match_query(words), number)).fetchone()) for number in numbers)
    return {number: " ".join(row[0].split()) for number, row in rows if row}


def _is_fast(database: sqlite3.Connection) -> bool:
    (made,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'words'").fetchone()
    return str(made).startswith("CREATE VIRTUAL")


def _find_alike(database: sqlite3.Connection, words: list[str]) -> list[int]:
    """Return tasks with a name or title similar to all words; the most similar first."""
    if not _is_fast(database):
        return []
    wanted = [_split_trigrams(word) for word in words]
    any_of = " OR ".join(f'"{piece}"' for piece in set().union(*wanted))
    rows = database.execute("SELECT rowid, name FROM names WHERE names MATCH ? ORDER BY rank LIMIT 100", (any_of,))
    shares = [(min(len(word & _split_trigrams(name)) / len(word) for word in wanted), number) for number, name in rows]
    return [number for share, number in sorted(shares, reverse=True) if share >= LIKE][:MOST_LIKE]


def _split_trigrams(text: str) -> set[str]:
    """Return the trigrams of a text, including the spaces around words."""
    plain = _plain_text(text)
    return {plain[at : at + 3] for at in range(len(plain) - 2)}


def _plain_text(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "
