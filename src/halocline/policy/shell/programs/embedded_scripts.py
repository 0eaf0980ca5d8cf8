"""Check sed, awk and jq programs inside commands: only plain forms are known to be harmless.

Each function returns the problem that it finds; empty means that the program only reads and prints.
"""

import re

from halocline.policy.shell.values.variables import UNKNOWN
from halocline.policy.word_tables import read_lines, read_pairs
from halocline.protocol.patterns import compile_later

_HARMLESS = read_pairs(read_lines(__file__)["harmless"])
_SED_PRINTS = compile_later(_HARMLESS["sed"].replace(r"[rRwW]\s*[^\n]+|", "").replace(r"(?:w[^\n]+)?", ""))
_AWK_FAULTS = (
    (compile_later(r"print.*>(?!=)|>>|\\\n.*>(?!=)", re.DOTALL), "it may write to files"),
    (compile_later(r"\b(ENVIRON|PROCINFO|SYMTAB|ARG[VC]|ARGIND)\b"), "it may read its environment or arguments"),
)
_JQ_FAULTS = compile_later(r"\b(env|include|import|modulemeta|get_search_list|input_filename)\b|\$ENV\b|\$__")


def runs_commands(name: str, text: str) -> bool:
    """Return True if a program for `sed` or `awk` may run commands; an unknown part may."""
    return UNKNOWN in text or not re.fullmatch(_HARMLESS[name], text)


def check_sed(text: str) -> str:
    """Accept programs that print: without `e`, and without files that it reads or writes."""
    return "" if _SED_PRINTS.fullmatch(text) else "this sed script may do more than print"


def check_awk(text: str) -> str:
    """Accept programs without commands, files, loaded code or the environment."""
    faults = ((fault.search(text), why) for fault, why in _AWK_FAULTS)
    runs = (text.startswith("-") or runs_commands("awk", text), "it may run commands or read other files")
    found = next((why for is_so, why in (*faults, runs) if is_so), "")
    return found and f"this awk program cannot be judged: {found}"


def check_jq(text: str) -> str:
    """Accept filters without the environment and modules."""
    return "this jq filter may read the environment or other files" if _JQ_FAULTS.search(text) else ""
