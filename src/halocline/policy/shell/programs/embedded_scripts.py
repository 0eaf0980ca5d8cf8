"""Check sed, awk and jq programs inside commands: only plain forms are known to be harmless.

Each function returns the problem that it finds; empty means that the program only reads and prints.
"""

import re

from halocline.protocol.patterns import compile_later

_ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)"
_SED_WHERE = rf"(?:{_ADDRESS}(?:,(?:[+~]?\d+|{_ADDRESS}))?(?:~\d+)?)?\s*!?\s*"
_SED_BLOCK = compile_later(_SED_WHERE + r"\{")
_SED_COMMAND = compile_later(
    _SED_WHERE
    + r"(?:[pdqn=lhHgGxD]|s(?P<d>[/|#,@:%])(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)[gpiIM\d]*"
    r"|y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/)"
)
_SED_BRACKET = compile_later(r"\[[^\]]*[/|#,@:%]")
_AWK_FAULTS = (
    (compile_later(r"\b(system|getline|close|fflush)\b"), "it may run commands or read other files"),
    (compile_later(r"(?<!\|)\|(?!\|)|\|{3}|\|&|@"), "it may run commands or load code"),
    (compile_later(r"print.*>(?!=)|>>|\\\n.*>(?!=)", re.DOTALL), "it may write to files"),
    (compile_later(r"\b(ENVIRON|PROCINFO|SYMTAB|ARG[VC]|ARGIND)\b"), "it may read its environment or arguments"),
)
_JQ_FAULTS = compile_later(r"\b(env|include|import|modulemeta|get_search_list|input_filename)\b|\$ENV\b|\$__")


def check_sed(text: str) -> str:
    """Accept addresses with `p`, `d`, `q`, `s` without `e` or `w`, and blocks of them.

    Brackets with a delimiter in them are ambiguous.
    """
    at = 0
    while at < len(text):
        if text[at] in "; \t\n}":
            at += 1
            continue
        if block := _SED_BLOCK.match(text, at):
            at = block.end()
            continue
        found = _SED_COMMAND.match(text, at)
        if not found or (found.end() < len(text) and text[found.end()] not in ";\n }"):
            return "this sed script may do more than print"
        at = found.end()
    return "this sed script may do more than print" if _SED_BRACKET.search(text) else ""


def check_awk(text: str) -> str:
    """Accept programs without commands, files, loaded code or the environment, even inside strings."""
    if text.startswith("-"):
        return "this awk program starts like a flag"
    return next((f"this awk program cannot be judged: {why}" for fault, why in _AWK_FAULTS if fault.search(text)), "")


def check_jq(text: str) -> str:
    """Accept filters without the environment and modules."""
    return "this jq filter may read the environment or other files" if _JQ_FAULTS.search(text) else ""
