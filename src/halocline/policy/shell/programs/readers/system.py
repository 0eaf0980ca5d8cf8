"""Programs that show the state of the machine or compute without files, package managers, commands of the shell."""

from functools import partial

from halocline.policy.shell.programs.specs import Given, Role, Spec, needs_flag, needs_words
from halocline.protocol.patterns import compile_later

_of_text = partial(Spec, operands=(Role.TEXT,))
_SETS = compile_later(r"%[-+ #0-9.*hlqjzt]*n")


def _check_printf(given: Given) -> str:
    return "it may set a variable" if _SETS.search(given.operands[0].text) else ""


def _check_pgrep(given: Given) -> str:
    return "it may show the arguments of other processes" if {"-l", "-f"} <= set(given.names) else ""


_NO_NUMBER = "its argument is not a plain number"
_TO_NUMBER = needs_words(r"\d+", _NO_NUMBER)

SYSTEM_READERS: dict[str, Spec] = {
    "seq": _of_text("w", "f:format s:text", "equal-width format=format separator=text"),
    "sleep": _of_text(extra=needs_words(r"\d{1,4}(\.\d+)?[smhd]?", _NO_NUMBER)),
    "date": _of_text(
        "uR",
        "d:date I?date|hours|minutes|seconds|ns",
        "utc universal date=date iso-8601?date|hours|minutes|seconds|ns rfc-3339=date|seconds|ns rfc-email",
        extra=needs_words(r"(?s)\+.*", "it may set the clock"),
    ),
    **dict.fromkeys(("cal", "ncal"), _of_text("13jmsywhn", "AB:number")),
    "expr": _of_text(ends=False),
    "uname": Spec(
        "asnrvmpio", words="all kernel-name nodename kernel-release kernel-version machine operating-system", most=0
    ),
    "whoami": Spec(most=0),
    "id": _of_text("ugGnrz", words="user group groups name real"),
    "groups": _of_text(),
    "hostname": Spec("s", most=0),
    "nproc": Spec(words="all ignore=number", most=0),
    "arch": Spec(most=0),
    "uptime": Spec("ps", words="pretty since", most=0),
    "free": Spec("bkmghtlw", words="bytes kibi mebi gibi human total wide", most=0),
    "tty": Spec("s", most=0),
    "locale": Spec("a", most=0),
    "getconf": _of_text(),
    "ps": Spec("eAax", "o:columns pC:names", most=0, extra=needs_flag("-o", "its columns are not chosen by -o")),
    "pgrep": _of_text("lfxniov", "uPt:names", extra=_check_pgrep),
    "lscpu": Spec("J", most=0),
    "which": _of_text("as", looks_up=True),
    "whereis": _of_text("bms"),
    "tput": _of_text(most=1, least=1, ends=False, extra=needs_words("cols|lines|colors", "it may change the terminal")),
    # Commands of the shell itself.
    **dict.fromkeys(("true", "false", ":"), _of_text(ends=False)),
    **dict.fromkeys(("exit", "break", "continue"), _of_text(most=1, ends=False, extra=_TO_NUMBER)),
    "pwd": Spec("LP", most=0),
    "cd": Spec("LPe", most=1, least=1),
    "pushd": Spec(most=1, least=1, ends=False, extra=needs_words(r"(?s)(?!\+).*", "it turns the stack of folders")),
    "popd": Spec(most=0, ends=False),
    "echo": _of_text("neE", ends=False),
    "printf": _of_text(least=1, extra=_check_printf),
    "set": _of_text(
        "eu", "o:pipefail|errexit|nounset", ends=False, apart="o", extra=needs_words(r"\+[eu]", "it sets arguments")
    ),
    "test": _of_text(
        words="f=path d=path e=path s=path r=path w=path x=path L=path h=path z=text n=text",
        most=3,
        single=True,
        ends=False,
        ordered=True,
    ),
    "type": _of_text("atpPf", looks_up=True),
    # Package managers, by their first two words: they list what is installed.
    "pip list": Spec(
        "v", words="format=columns|freeze|json user local not-required exclude-editable verbose", most=0, looks_up=True
    ),
    "pip show": _of_text("fv", words="files verbose", least=1, looks_up=True),
    "pip freeze": Spec("l", words="all local user exclude-editable exclude=names", most=0, looks_up=True),
    "npm ls": _of_text(
        "alp", words="all depth=number long parseable json global prod dev omit=names include=names link", looks_up=True
    ),
    "npm root": Spec("g", words="global", most=0, looks_up=True),
    "npm prefix": Spec("g", words="global", most=0, looks_up=True),
    "go list": _of_text(words="f=format json?names e deps m", single=True, glue="=", ends=False, looks_up=True),
    "go version": Spec(most=0, looks_up=True),
    "go env": _of_text(words="json", single=True, ends=False, looks_up=True),
}
_BY_WORDS = {
    "--version -V": "python python3 deno cargo rustc rustup pip pip3 uv poetry grep ruff mypy rg fd jq curl wget psql",
    "--version -v": "node npm bun ruby php perl make docker nvim",
    "version": "go",
    "--version -version": "java javac sqlite3",
    "--version": "gcc g++ clang cmake ninja sort sed ls bash vim tree gh",
    "--version version": "git",
    "-V": "tmux",
    "-version": "ffmpeg",
}
PRINTS_VERSION = {name: words.split() for words, names in _BY_WORDS.items() for name in names.split()}
"""Programs that do not download themselves first, with the words that alone make them print their version."""
