"""Commands of the shell itself."""

from halocline.policy.shell.programs.specs import Given, Role, Spec
from halocline.protocol.patterns import compile_later

TEXT = Role.TEXT
_SETS = compile_later(r"%[-+ #0-9.*hlqjzt]*n")


def _check_pushd(given: Given) -> str:
    return "it turns the stack of folders" if given.operands[0].text.startswith("+") else ""


def _check_number(given: Given) -> str:
    return "" if all(word.text.isdecimal() for word in given.operands) else "its argument is not a plain number"


def _check_set(given: Given) -> str:
    return "" if all(word.text in ("+e", "+u") for word in given.operands) else "it sets arguments"


def _check_printf(given: Given) -> str:
    return "it may set a variable" if _SETS.search(given.operands[0].text) else ""


BUILTIN_READERS: dict[str, Spec] = {
    "pwd": Spec("LP", most=0),
    "cd": Spec("LPe", most=1, least=1),
    "pushd": Spec(most=1, least=1, ends=False, extra=_check_pushd),
    "popd": Spec(most=0, ends=False),
    "echo": Spec("neE", operands=(TEXT,), ends=False),
    "printf": Spec(operands=(TEXT,), least=1, extra=_check_printf),
    "true": Spec(operands=(TEXT,), ends=False),
    "false": Spec(operands=(TEXT,), ends=False),
    ":": Spec(operands=(TEXT,), ends=False),
    "set": Spec("eu", "o:pipefail|errexit|nounset", operands=(TEXT,), ends=False, apart="o", extra=_check_set),
    "exit": Spec(operands=(TEXT,), most=1, ends=False, extra=_check_number),
    "break": Spec(operands=(TEXT,), most=1, ends=False, extra=_check_number),
    "continue": Spec(operands=(TEXT,), most=1, ends=False, extra=_check_number),
    "test": Spec(
        words="f=path d=path e=path s=path r=path w=path x=path L=path h=path z=text n=text",
        operands=(TEXT,),
        most=3,
        single=True,
        ends=False,
        ordered=True,
    ),
    "type": Spec("atpPf", operands=(TEXT,), looks_up=True),
}
