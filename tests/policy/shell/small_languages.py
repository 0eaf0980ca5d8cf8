"""Random programs of the languages that the judge knows: awk, sed, jq, find, test. What it lets run is run and watched.

`python -m tests.policy.shell.small_languages COUNT [SEED]` prints each fault, and how many programs of each language
were let run. Half of the programs are of the grammar that is known, the others are changed at some places.
"""

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from tests.policy.shell.differential import TRACED, Fault, fault_of_reading
from tests.policy.shell.scratch_world import OUTSIDE, SECRET, Run, Scratch

from halocline.hosts.shell.environment import clean_environment
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.permission_rules import Verdict

FILES = ("a.txt", "b.txt", "src/main.py", "sub/c.txt")
TRAPS = (
    *(
        "../out/o.txt",
        ".env",
        "id.pem",
        "link",
        "/etc/passwd",
        "$HOME/.ssh/id_rsa",
        "new",
        ".git/hooks/x",
        "../out/new",
    ),
    *(
        "/dev/tcp/127.0.0.1/9",
        "/proc/self/environ",
        "-",
        "/dev/stdout",
        "a[$(canary)]",
        "`canary`",
        "|canary",
        "canary",
    ),
)
BYTES = "'\"\\;|&$(){}[]<>/!@~#%*?^ \n\teEwWrRiIaAcCfFsSyq0123456789,"


class Language:
    """Random programs of one language; a program is a whole command."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def pick(self, some):
        return self._random.choice(some)

    def maybe(self, text: str, of: int = 2) -> str:
        return text if self._random.randrange(of) == 0 else ""

    def place(self) -> str:
        return self.pick(TRAPS) if self._random.randrange(8) == 0 else self.pick(FILES)

    def change(self, text: str) -> str:
        """Change a program at some places: put something in, take something out, or put in a trap."""
        for _ in range(self._random.randrange(1, 4)):
            at = self._random.randrange(len(text) + 1)
            new = self.pick((self.pick(BYTES), self.pick(TRAPS), self.pick(BYTES) + self.pick(BYTES)))
            text = text[:at] + new + text[at + self._random.randrange(3) :]
        return text

    def commands(self) -> Iterator[str]:
        while True:
            program = self.program()
            if self._random.randrange(2):
                program = self.change(program)
            yield self.command(program)

    def program(self) -> str:
        raise NotImplementedError

    def command(self, program: str) -> str:
        raise NotImplementedError


def quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


class Awk(Language):
    """Patterns and actions; traps: `system`, `getline`, pipes, output files, `ARGV`, `ENVIRON`, `-v`, `-f`, `@load`."""

    def program(self) -> str:
        rules = [self._rule() for _ in range(self._random.randrange(1, 4))]
        return self.pick(("; ", "\n", " ")).join(rules)

    def command(self, program: str) -> str:
        flags = self.pick(
            (
                "",
                "",
                "-F, ",
                "-F: ",
                "-v x=1 ",
                "-v ARGV=1 ",
                "-v 'x=a b' ",
                "-f a.txt ",
                "-i inplace ",
                "-l x ",
                "-e ",
                "-E ",
            )
        )
        name = self.pick(("awk", "awk", "gawk", "mawk", "LC_ALL=C awk"))
        files = self.pick((self.place(), "a.txt b.txt", "x=1 a.txt", "FS=: a.txt", "-- a.txt"))
        return f"{name} {flags}{quote(program)} {files}"

    def _rule(self) -> str:
        pattern = self.pick(
            ("", "", "BEGIN", "END", self._value(), f"/{self._regex()}/", f"/{self._regex()}/,/b/", "NR==1", "!x")
        )
        return (
            f"{pattern} {{ {self._action()} }}"
            if pattern in ("", "BEGIN", "END") or self._random.randrange(2)
            else pattern
        )

    def _action(self) -> str:
        return "; ".join(self._statement(2) for _ in range(self._random.randrange(1, 4)))

    def _statement(self, depth: int) -> str:
        plain = (
            *(
                f"print {self._value()}",
                f'printf "%s\\n", {self._value()}',
                "print",
                f"x = {self._value()}",
                f"a[{self._value()}]++",
            ),
            *(
                "next",
                "exit",
                f"sub(/{self._regex()}/, {self._value()})",
                f"gsub(/a/, {self._value()}, $1)",
                f"split($0, a, {self._value()})",
            ),
            *(
                f'print > "{self.place()}"',
                f'print >> "{self.place()}"',
                f'print | "{self.place()}"',
                f'"{self.place()}" | getline',
            ),
            *(
                f'getline < "{self.place()}"',
                f"system({self._value()})",
                f"close({self._value()})",
                f'ARGV[1] = "{self.place()}"',
            ),
            *(
                "getline",
                "getline x",
                f'print |& "{self.place()}"',
                f"delete a[{self._value()}]",
                'fflush("")',
                f"$2 = {self._value()}",
            ),
            *(
                f"print {self._value()} > $1",
                f"@x({self._value()})",
                "nextfile",
                "ARGC++",
                f'FS = "{self.place()}"',
                "x = length > 3",
            ),
        )
        if depth and self._random.randrange(3) == 0:
            inner = self._statement(depth - 1)
            blocks = (
                f"if ({self._value()}) {inner}",
                f"for (k in a) {inner}",
                f"while (i++ < 2) {{ {inner} }}",
                f"{{ {inner} }}",
            )
            return self.pick((*blocks, f"for (i = 0; i < 2; i++) {inner}", f"do {inner}; while (i++ < 2)"))
        return self.pick(plain[:10] if self._random.randrange(3) else plain)

    def _value(self, depth: int = 2) -> str:
        if depth and self._random.randrange(2):
            one, two = self._value(depth - 1), self._value(depth - 1)
            return self.pick(
                (
                    f"{one} {two}",
                    f"{one} + {two}",
                    f"({one})",
                    f"{one} ~ /a/",
                    f"{one} > {two}",
                    f"{one} ? {two} : 1",
                    f"length({one})",
                )
            )
        calls = (
            "substr($0, 1, 3)",
            "toupper($1)",
            'sprintf("%s", $1)',
            'index($0, "a")',
            "int(x)",
            'ENVIRON["HOME"]',
            'PROCINFO["pid"]',
        )
        return self.pick(
            (
                "1",
                "$0",
                "$1",
                "NF",
                "NR",
                '"a"',
                "x",
                "a[1]",
                "FILENAME",
                "-1",
                "$NF",
                "$(1)",
                f'"{self.pick(TRAPS)}"',
                *calls,
            )
        )

    def _regex(self) -> str:
        return self.pick(("a", "^a", "[ab]+", "KEY", ".", "a|b", "a\\/b", "[/]", "$", "(x)?"))


class Sed(Language):
    """Addresses and commands; traps: `e`, `w`, `r`, `W`, `R`, `s///e`, `s///w`, `-f`, `-s`, and suffixes of `-i`."""

    def program(self) -> str:
        return self.pick(("; ", "\n")).join(self._one(1) for _ in range(self._random.randrange(1, 4)))

    def command(self, program: str) -> str:
        flags = self.pick(
            (
                "",
                "-n ",
                "-E ",
                "-n -e ",
                "-e ",
                "-z ",
                "-s ",
                "-u ",
                "--posix ",
                "-f ",
                "--sandbox ",
                "--debug ",
                "-nE ",
            )
        )
        edits = (
            "-i ",
            "-i.bak ",
            "-i -e ",
            "--in-place ",
            "--in-place=.orig ",
            "-i../out/* ",
            "-i.git/hooks/* ",
            "-ni ",
            "-Ei ",
            "-iE ",
            "-i*~ ",
        )
        flags = self.pick(edits) if self._random.randrange(3) == 0 else flags
        return (
            f"sed {flags}{quote(program)} {self.pick((self.place(), self.place(), 'a.txt b.txt', 'src/*', '-- a.txt'))}"
        )

    def _one(self, depth: int) -> str:
        address = self.pick(("", "", "1", "$", "1,3", "/a/", "/a/,/b/", "0~2", "\\,a,", "1!", "2,+1", "/a/I", "0,/a/"))
        if depth and self._random.randrange(5) == 0:
            return f"{address}{{{self._one(depth - 1)}; {self._one(depth - 1)}}}"
        by = self.pick(("/", "|", ",", "#", "e", "w"))
        old, new = self.pick(("a", "KEY", "^", "[a-z]*", ".*")), self.pick(("b", "&", "touch new", "canary", "\\1"))
        change = f"s{by}{old}{by}{new}{by}"
        change += self.pick(("", "", "g", "2", "p", "gI", "e", "w new", f"w {self.pick(TRAPS)}", "ge", "m", "pe", "eg"))
        texts = (
            f"a{self.pick(('', chr(92) + chr(10)))} x",
            "i x",
            f"c {self.pick(TRAPS)}",
            "y/ab/ba/",
            "l",
            "=",
            "q",
            "q1",
            "Q",
            "n",
            "N",
            "D",
            "P",
        )
        files = (
            f"w {self.place()}",
            f"r {self.place()}",
            f"W {self.place()}",
            f"R {self.place()}",
            "e",
            f"e {self.pick(TRAPS)}",
            "F",
            "z",
            "v",
        )
        return address + self.pick(
            (*[change] * 12, "p", "d", "h", "g", "x", "G", "H", "b", ":x", "t x", *texts, *files)
        )


class Jq(Language):
    """Filters; traps: modules, `input_filename`, `env`, `$__loc__`, `--rawfile`, `--from-file`, `-L`, `include`."""

    def program(self) -> str:
        return self._filter(3)

    def command(self, program: str) -> str:
        flags = (
            "",
            "-r ",
            "-c ",
            "-s ",
            "-n ",
            "-R ",
            "-e ",
            "-S ",
            "--tab ",
            "--arg x 1 ",
            "--argjson x 1 ",
            "-f ",
            "-L.. ",
            "-L../out ",
        )
        more = (
            f"--rawfile x {self.place()} ",
            f"--slurpfile x {self.place()} ",
            f"--from-file {self.place()} ",
            "--args ",
            "-nr ",
            "--seq ",
        )
        return f"jq {self.pick((*flags, *flags, *more))}{quote(program)} {self.place()}"

    def _filter(self, depth: int) -> str:
        if depth == 0 or self._random.randrange(3) == 0:
            atoms = (
                ".",
                ".a",
                ".[]",
                ".[0]",
                ".a?",
                "..",
                "1",
                '"x"',
                "null",
                "length",
                "keys",
                "type",
                "$x",
                '"\\(.)"',
                "@sh",
                "input",
                "inputs",
            )
            traps = (
                "env",
                "$ENV",
                "env.HOME",
                "input_filename",
                "$__prog_args",
                "get_search_list",
                "debug",
                "stderr",
                "halt",
                "modulemeta",
                "now",
            )
            return self.pick((*atoms, *atoms, *traps))
        one, two = self._filter(depth - 1), self._filter(depth - 1)
        forms = (
            f"{one} | {two}",
            f"{one}, {two}",
            f"[{one}]",
            f"{{a: {one}}}",
            f"({one})",
            f"map({one})",
            f"select({one} == {two})",
            f"{one} // {two}",
        )
        more = (
            f"if {one} then {two} else . end",
            f"reduce .[] as $x ({one}; {two})",
            f"try {one} catch {two}",
            f"def f: {one}; {two}",
            f"{one} as $x | {two}",
        )
        traps = (
            f'import "../out/o" as x; {one}',
            f'include "o" {{search: "../out"}}; {one}',
            f'import "a" as $x {{search: "./"}}; {one}',
        )
        return self.pick((*forms, *more, *forms, f'test({one}; "g")', f"split({one})", f"to_entries[] | {one}", *traps))


class Find(Language):
    """Tests and actions; traps: `-exec`, `-delete`, `-fprint`, `-fls`, `-files0-from`, `-newer` of places outside."""

    def program(self) -> str:
        return " ".join(self._test(2) for _ in range(self._random.randrange(1, 4)))

    def command(self, program: str) -> str:
        start = self.pick(
            (
                ".",
                ".",
                "src",
                "sub .",
                "-L .",
                "-H .",
                "-P src",
                "-O3 .",
                self.place(),
                "",
                ". ..",
                "-files0-from a.txt",
                "-D exec .",
            )
        )
        return f"find {start} {program}".rstrip()

    def _test(self, depth: int) -> str:
        if depth and self._random.randrange(4) == 0:
            one, two = self._test(depth - 1), self._test(depth - 1)
            return self.pick(
                (
                    f"\\( {one} -o {two} \\)",
                    f"! {one}",
                    f"{one} -a {two}",
                    f"-not {one}",
                    f"{one} , {two}",
                    f"{one} -or {two}",
                )
            )
        tests = (
            *(
                "-name '*.txt'",
                "-iname A.TXT",
                "-type f",
                "-type d",
                "-maxdepth 2",
                "-mindepth 1",
                "-size +1k",
                "-mtime -1",
                "-empty",
                "-path './s*'",
            ),
            *(
                "-newer a.txt",
                "-perm -100",
                "-prune",
                "-print",
                "-print0",
                "-ls",
                "-printf '%p %s\\n'",
                "-regex '.*a.*'",
                "-quit",
                "-links 1",
                "-user root",
            ),
            *(
                "-exec cat {} +",
                "-exec wc -l {} \\;",
                "-exec grep -n a {} +",
                "-exec head -1 {} \\;",
                "-execdir cat {} \\;",
                "-ok cat {} \\;",
            ),
        )
        traps = (
            *(
                "-delete",
                "-exec rm {} \\;",
                "-exec canary \\;",
                "-exec sh -c 'canary' \\;",
                "-exec sh -c 'cat $0' {} \\;",
                "-exec cp {} new \\;",
            ),
            *(
                f"-fprint {self.place()}",
                f"-fls {self.place()}",
                f"-fprintf {self.place()} x",
                f"-newer {self.place()}",
                f"-samefile {self.place()}",
            ),
            *(
                "-exec env canary \\;",
                "-exec sed -i d {} +",
                "-exec {} \\;",
                "-exec ./{} \\;",
                f"-exec cat {self.place()} \\;",
                "-fprint0 new",
                "-exec tee new \\;",
            ),
        )
        return self.pick(tests if self._random.randrange(4) else traps)


class Test(Language):
    """Conditions of `test`, `[` and `[[`; traps: arithmetic of texts, `-v` of elements, substitutions, `=~`."""

    def program(self) -> str:
        return self._condition(2)

    def command(self, program: str) -> str:
        forms = (
            "test {}",
            "[ {} ]",
            "[[ {} ]]",
            "[[ {} ]] && cat a.txt",
            "if [ {} ]; then cat b.txt; fi",
            "[ {} ] || echo no",
            "! test {}",
        )
        if self._random.randrange(4) == 0:
            return (
                "x=" + self.pick(("1", "$(cat a.txt)", "'a[$(canary)]'", "a")) + "; " + self.pick(forms).format(program)
            )
        return self.pick(forms).format(program)

    def _condition(self, depth: int) -> str:
        if depth and self._random.randrange(3) == 0:
            one, two = self._condition(depth - 1), self._condition(depth - 1)
            return self.pick(
                (
                    f"{one} && {two}",
                    f"{one} || {two}",
                    f"! {one}",
                    f"( {one} )",
                    f"{one} -a {two}",
                    f"{one} -o {two}",
                    f"\\( {one} \\)",
                )
            )
        word, other = self._word(), self._word()
        unary = self.pick(("-f", "-d", "-e", "-n", "-z", "-r", "-s", "-L", "-x", "-v", "-R", "-t", "-o", "-N", "-O"))
        binary = self.pick(("=", "==", "!=", "<", "-eq", "-lt", "-ge", "-nt", "-ot", "-ef", "=~", "\\<", "-ne"))
        return self.pick((f"{unary} {word}", f"{word} {binary} {other}", word, f"{unary} {word}"))

    def _word(self) -> str:
        plain = (
            "a.txt",
            "src",
            "1",
            "x",
            '"$x"',
            "$x",
            "$HOME",
            '"a b"',
            "*.txt",
            "x*",
            "$((1 + 1))",
            "''",
            "-f",
            "(a|b)",
        )
        traps = (
            "$(canary)",
            "'a[$(canary)]'",
            '"a[$(canary)]"',
            "$((a[$(canary)]))",
            "a[0]",
            f'"{self.pick(TRAPS)}"',
            "$(cat .env)",
            "`canary`",
        )
        return self.pick(
            plain
            if self._random.randrange(3)
            else (*traps, "<(canary)", "${x:=$(canary)}", "$(< ../out/o.txt)", "x[$x]")
        )


LANGUAGES: dict[str, Callable[[str], Language]] = {"awk": Awk, "sed": Sed, "jq": Jq, "find": Find, "test": Test}


def fault_of_edit(run: Run, text: str) -> str:
    """Of `sed -i` that auto mode lets run: it changes only the files that it names, and what it keeps of them."""
    if run.broke:
        return "broke the box"
    kept = (".bak", ".orig", "E", "*~")
    named = [path for path in FILES if path in text] + ["src/main.py"] * ("src/*" in text)
    folders = {"w", *(f"w/{Path(path).parent}".removesuffix("/.") for path in named)}
    allowed = folders | {f"w/{path}{suffix}" for path in named for suffix in ("", *kept)}
    other = [path for path in run.changes if path not in allowed and not path.endswith("~")]
    opened = [path for path in run.opened if not path.startswith("bin/") or path == "bin/canary"]
    if other or opened:
        return f"changed {other[0]}" if other else f"opened {opened[0]}"
    return "printed a canary" if OUTSIDE in run.said or SECRET in run.said else ""


def find_faults(scratch: Scratch, count: int, seed: str) -> tuple[Counter[str], list[Fault]]:
    """Judge so many programs of each language, and run what is let run in ask mode, and edits by sed in auto mode."""
    ran, faults = Counter[str](), []
    for name, language in LANGUAGES.items():
        for text in islice(language(f"{seed}-{name}").commands(), count):
            decision = scratch.judge(text, ApprovalMode.ASK)
            edits = name == "sed" and decision.verdict is not Verdict.ALLOW
            if edits:
                decision = scratch.judge(text, ApprovalMode.AUTO)
            if decision.verdict is not Verdict.ALLOW:
                continue
            edits = edits and decision.canonical is None
            key = "sed -i" if edits else name
            ran[key] += 1
            form = decision.canonical or text
            environment = scratch.environment
            environment = environment if edits else clean_environment(environment, str(scratch.workspace))
            run = scratch.run(form, environment, trace=not edits and ran[key] % TRACED == 0)
            fault = fault_of_edit(run, text) if edits else fault_of_reading(form, run, scratch)
            if fault:
                faults.append(Fault(ApprovalMode.AUTO if edits else ApprovalMode.ASK, text, form, fault))
    return ran, faults


def main() -> int:
    count, seed = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "halocline"
    began, faults = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="languages-") as folder:
        scratch = Scratch(Path(folder).resolve())
        for number in range(-(-count // 1000)):
            ran, found = find_faults(scratch, min(count, 1000), f"{seed}-{number}")
            faults += len(found)
            for fault in found:
                sys.stdout.write(str(fault))
            let = ", ".join(f"{name} {let}" for name, let in ran.items())
            sys.stdout.write(f"of {min(count, 1000)} each: {let}; {time.monotonic() - began:.0f} s\n")
            sys.stdout.flush()
        scratch.close()
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
