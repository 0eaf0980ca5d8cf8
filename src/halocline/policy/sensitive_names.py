"""The names of secret files, and of files that other programs run or read as configuration: one list for every reader.

They stand in `sensitive_names.txt`. What is compared with them goes through `fold_case`, as some disks ignore case.
"""

import re
from functools import cache, lru_cache

from halocline.policy.word_tables import read_words
from halocline.protocol.config_locations import OBEYED, OBEYED_AT_HOME
from halocline.protocol.patterns import compile_later

_NAMES = read_words(__file__)
SECRET_FILES = _NAMES["secret files"]
"""Patterns for file names. Reading a whole folder skips them."""
SECRET_PATHS = _NAMES["secret paths"]
"""Path suffixes, for names that mean nothing on their own."""
SECRET_FOLDERS = _NAMES["secret folders"]
"""Folders in which everything counts as secret."""
_SECRET_ENDS = tuple(f"/{end}/" for end in SECRET_PATHS)
_SECRET_WITHIN = tuple(f"/{folder}/" for folder in SECRET_FOLDERS)
KEY_FILES = r".*\.(pem|key|ppk|p8|p12|pfx|pkcs12|jks|bks|keystore|kdbx?|keytab|agekey)"
_KEYS = compile_later(KEY_FILES)
_EXAMPLE = compile_later(
    r"(.*[._-])?(examples?|samples?|template|tmpl|tpl|dist|defaults?|schema)"
    r"(\.(env|json|ya?ml|toml|xml|ini|txt|csv|properties|tfvars|php))?"
)
"""Names such as `.env.example` and `secrets.sample.yml`, which hold no secrets."""
GIT_STORE = r"\.git/(modules/.+/|worktrees/[^/]+/)?(objects|index|logs)"
"""A pattern for where git keeps what files held and what they are called, also those that are secret or hidden."""
RUNS_LATER = tuple(f"/{name.lower()}/" for name in dict.fromkeys((*_NAMES["run or read"], *OBEYED, *OBEYED_AT_HOME)))
"""Places that some program, such as Halocline, runs or reads as configuration; each between slashes."""
_LAST_PARTS = frozenset(place.split("/")[-2] for place in RUNS_LATER)
MADE_BY_TOOLS = frozenset({".gradle", ".yarn", ".mvn", ".direnv", ".ipython", ".jupyter", ".settings", "pyvenv.cfg"})
"""Those of them that builds and package managers create themselves, even in a sandbox."""
RUNS_LATER_FILES = _NAMES["run or read files"]
"""Patterns for the names of such files."""
_INVISIBLE = compile_later("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")


def fold_case(path: str) -> str:
    """Return a path as compared by disks that ignore case, accent composition and invisible characters."""
    if path.isascii():
        return path.lower()
    import unicodedata  # only needed for other scripts

    return _INVISIBLE.sub("", unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold()))


@lru_cache(maxsize=20_000)
def is_secret(path: str) -> bool:
    """Return True if a file of this name may hold secrets. `path` is absolute or relative to a folder of the task."""
    folded = fold_case(path).rstrip("/")
    name = folded.rpartition("/")[2]
    around = f"/{folded}/"
    may_be = (
        _matches_one(name, SECRET_FILES)
        or around.endswith(_SECRET_ENDS)
        or any(folder in around for folder in _SECRET_WITHIN)
    )
    return may_be and not (_EXAMPLE.fullmatch(name) and not _KEYS.fullmatch(name))


def is_secret_folder(path: str) -> bool:
    """Return True if everything in a folder counts as secret."""
    return f"/{fold_case(path).strip('/')}/".endswith(_SECRET_WITHIN)


@lru_cache(maxsize=20_000)
def runs_later(path: str) -> bool:
    """Return True if other programs run a file of this name or read it as configuration.

    `path` is relative to a folder of the task.
    """
    folded = fold_case(path).rstrip("/")
    around, name = f"/{folded}/", folded.rpartition("/")[2]
    is_place = not _LAST_PARTS.isdisjoint(around.split("/")) and any(place in around for place in RUNS_LATER)
    return is_place or _matches_one(name, RUNS_LATER_FILES)


def runs_later_below(path: str) -> str:
    """Return what other programs run or read below a folder, as far as the folder's name tells; empty for nothing."""
    places = (place.strip("/").partition("/") for place in RUNS_LATER)
    rest = next((rest for head, _, rest in places if rest and head == fold_case(path).rpartition("/")[2]), "")
    return f"{path}/{rest}" if rest else ""


def may_run_later(name: str) -> bool:
    """Return True if `runs_later` may hold for a path with this last part, but not for the folder: a quick test."""
    folded = fold_case(name)
    return folded in _LAST_PARTS or _matches_one(folded, RUNS_LATER_FILES)


def _matches_one(name: str, patterns: tuple[str, ...]) -> bool:
    """Return True if the name matches a pattern; most names hold no middle of a literal part, so none is compiled."""
    threes = zip(name, name[1:], name[2:], strict=False)
    return not _middles(patterns).isdisjoint(threes) and bool(_one_of(patterns).fullmatch(name))


@cache
def _middles(patterns: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Return three characters from the middle of the longest literal part of each pattern."""
    parts = (max(pattern.replace("?", "*").split("*"), key=len) for pattern in patterns)
    return frozenset(tuple(part[(len(part) - 3) // 2 :][:3]) for part in parts)


@cache
def _one_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    from fnmatch import translate

    return re.compile("|".join(map(translate, patterns)))
