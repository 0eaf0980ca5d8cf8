"""Programs that only read, with the flags that keep it so: none that write, run, connect or follow links."""

import re
from dataclasses import replace

from halocline.policy.shell.programs import embedded_scripts
from halocline.policy.shell.programs.exclusions import FOR_DIFF, FOR_GREP, FOR_RIPGREP
from halocline.policy.shell.programs.specs import Given, Role, Spec

PATH, TEXT, NAMED, PROGRAM = Role.PATH, Role.TEXT, Role.NAMED, Role.PROGRAM

_NUMBER = re.compile(r"\d{1,4}(\.\d+)?[smhd]?")
_SETS = re.compile(r"%[-+ #0-9.*hlqjzt]*n")
PRINTS_VERSION = {
    "python": "--version -V",
    "python3": "--version -V",
    "node": "--version -v",
    "npm": "--version -v",
    "deno": "--version -V",
    "bun": "--version -v",
    "go": "version",
    "cargo": "--version -V",
    "rustc": "--version -V",
    "rustup": "--version -V",
    "ruby": "--version -v",
    "java": "--version -version",
    "javac": "--version -version",
    "php": "--version -v",
    "perl": "--version -v",
    "gcc": "--version",
    "g++": "--version",
    "clang": "--version",
    "make": "--version -v",
    "cmake": "--version",
    "ninja": "--version",
    "pip": "--version -V",
    "pip3": "--version -V",
    "uv": "--version -V",
    "poetry": "--version -V",
    "sort": "--version",
    "sed": "--version",
    "grep": "--version -V",
    "ls": "--version",
    "ruff": "--version -V",
    "mypy": "--version -V",
    "docker": "--version -v",
    "git": "--version version",
    "rg": "--version -V",
    "fd": "--version -V",
    "jq": "--version -V",
    "curl": "--version -V",
    "wget": "--version -V",
    "bash": "--version",
    "psql": "--version -V",
    "sqlite3": "--version -version",
    "tmux": "-V",
    "vim": "--version",
    "ffmpeg": "-version",
    "tree": "--version",
    "nvim": "--version -v",
    "gh": "--version",
}
"""Programs that print their version with one of these words alone; none that would download themselves first."""


def _check_date(given: Given) -> str:
    return "" if all(word.text.startswith("+") for word in given.operands) else "it may set the clock"


def _check_cd(given: Given) -> str:
    return "cd - goes to a folder that is known only when it runs" if given.operands[0].text == "-" else ""


def _check_sleep(given: Given) -> str:
    return "" if all(_NUMBER.fullmatch(word.text) for word in given.operands) else "its argument is not a plain number"


def _check_unpacking(given: Given) -> str:
    return (
        ""
        if {"-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"} & set(given.names)
        else "it compresses files"
    )


def _check_number(given: Given) -> str:
    return "" if all(word.text.isdecimal() for word in given.operands) else "its argument is not a plain number"


def _check_set(given: Given) -> str:
    return "" if all(word.text in ("+e", "+u") for word in given.operands) else "it sets arguments"


def _check_tput(given: Given) -> str:
    return "" if given.operands[0].text in ("cols", "lines", "colors") else "it may change the terminal"


def _check_ps(given: Given) -> str:
    return (
        ""
        if "-o" in given.names and not given.operands
        else "it is known to be harmless only with columns chosen by -o"
    )


def _check_pgrep(given: Given) -> str:
    return "it may show the arguments of other processes" if {"-l", "-f"} <= set(given.names) else ""


def _check_printf(given: Given) -> str:
    return "it may set a variable" if _SETS.search(given.operands[0].text) else ""


def _check_tar(given: Given) -> str:
    if any(":" in path.text for path in given.paths):
        return "the archive may be on another machine"
    return "" if {"-t", "--list"} & set(given.names) else "it does more than list the archive"


def _check_unzip(given: Given) -> str:
    return "" if {"-l", "-Z", "-v"} & set(given.names) else "it does more than list the archive"


_WHEN = "always|auto|never|yes|no"
_HASHES = Spec("bt", words="binary text tag zero quiet")
_GREP = Spec(
    "abcEFGhHiIlLnoPqrRsTvwxyzZ",
    "ABCm:number d:read|recurse|skip e:program f:path",
    "after-context=number before-context=number context=number binary-files=binary|text|without-match byte-offset "
    f"color?{_WHEN} colour?{_WHEN} count exclude=text exclude-dir=text extended-regexp file=path files-with-matches "
    "files-without-match fixed-strings basic-regexp perl-regexp regexp=program ignore-case no-ignore-case include=glob "
    "initial-tab invert-match line-buffered line-number line-regexp max-count=number no-filename with-filename "
    "no-messages null null-data only-matching quiet silent recursive text word-regexp directories=read|recurse|skip",
    operands=(TEXT, PATH),
    numbers=True,
    shifted="-e --regexp -f --file",
    renamed=(("-R", "-r"),),
    recursive="-r -R --recursive -d --directories",
    added=FOR_GREP,
)
_GZIP = Spec("cdlqtv", words="stdout to-stdout decompress uncompress list test quiet verbose", extra=_check_unpacking)
_CAL = Spec("13jmsywhn", "AB:number", operands=(TEXT,))
_ZCAT = Spec("fqv", words="force quiet")

READERS: dict[str, Spec] = {
    "ls": Spec(
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        words="all almost-all author escape block-size=names ignore-backups "
        f"color?{_WHEN} colour?{_WHEN} directory dired classify?{_WHEN} file-type format=names full-time no-group "
        f"group-directories-first human-readable si dereference-command-line hide=text hyperlink?{_WHEN} "
        "indicator-style=names inode ignore=text kibibytes dereference numeric-uid-gid literal hide-control-chars "
        "show-control-chars quote-name quoting-style=names reverse recursive size sort=names time=names "
        "time-style=text tabsize=number width=number context zero",
    ),
    "cat": Spec(
        "AbeEnstTuv",
        words="show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
    ),
    "head": Spec("qvz", "nc:size", "quiet silent verbose zero-terminated lines=size bytes=size", numbers=True),
    "tail": Spec("qvzr", "nc:size", "quiet silent verbose zero-terminated lines=size bytes=size", numbers=True),
    "tac": Spec("br", "s:text", "before regex separator=text"),
    "nl": Spec("p", "bfh:text ds:text ilvw:number n:ln|rn|rz"),
    "wc": Spec("clmwL", words="bytes chars lines words max-line-length total=auto|always|only|never"),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": Spec(
        "abcFhHiIlnNopPqsSUuvVwx0.",
        "ABCdjmM:number E:names e:program g:glob r:text tT:names",
        "after-context=number before-context=number context=number color=always|auto|never|ansi colors=names column "
        "count count-matches crlf case-sensitive debug engine=default|pcre2|auto field-match-separator=text files "
        "files-with-matches files-without-match fixed-strings glob=glob iglob=glob heading hidden ignore-case "
        "invert-match json line-buffered line-number line-regexp max-columns=number max-count=number max-depth=number "
        "max-filesize=size multiline multiline-dotall no-config no-filename no-heading no-ignore no-ignore-vcs "
        "no-ignore-parent no-line-number no-messages no-unicode null only-matching passthru pcre2 pretty quiet "
        "regexp=program replace=text smart-case sort=none|path|modified|accessed|created "
        "sortr=none|path|modified|accessed|created stats text threads=number trim type=names type-not=names type-list "
        "unrestricted version vimgrep with-filename word-regexp",
        operands=(TEXT, PATH),
        glue="=",
        shifted="-e --regexp --files --type-list",
        added=FOR_RIPGREP,
        recursive="always",
    ),
    "find": Spec(
        words="H P E maxdepth=number mindepth=number depth d mount xdev name=text iname=text path=text ipath=text "
        "wholename=text iwholename=text regex=text iregex=text regextype=names type=names xtype=names size=size empty "
        "newer=path anewer=path cnewer=path newermt=date newerct=date newerat=date mtime=age atime=age ctime=age "
        "mmin=age amin=age cmin=age perm=mode user=names group=names uid=number gid=number nouser nogroup links=number "
        "inum=number samefile=path readable writable executable true false not and a or o print print0 printf=format "
        "ls prune quit daystart noleaf ignore_readdir_race",
        single=True,
        ends=False,
        ordered=True,
    ),
    "fd": Spec(
        "HIsiFapl0u1g",
        "dj:number tec:names E:text S:size",
        "hidden no-ignore no-ignore-vcs case-sensitive ignore-case glob regex fixed-strings absolute-path list-details "
        "full-path print0 max-depth=number min-depth=number exact-depth=number type=names extension=names size=size "
        "changed-within=date changed-before=date exclude=text color=always|auto|never max-results=number quiet "
        "unrestricted show-errors base-directory=path strip-cwd-prefix",
        operands=(TEXT, PATH),
        glue="=",
    ),
    "tree": Spec(
        "adfixqNQpugshDFvtcUrAS",
        "L:number PI:text",
        "dirsfirst filesfirst noreport prune du si sort=names gitignore matchdirs ignore-case charset=names "
        "filelimit=number timefmt=format inodes device",
        apart="L P I",
    ),
    "sort": Spec(
        "bdfghiMnrRsuVzcCm",
        "k:key t:text S:size",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort "
        "numeric-sort reverse stable unique version-sort zero-terminated key=key field-separator=text "
        "check?quiet|silent|diagnose-first sort=general-numeric|human-numeric|month|numeric|random|version merge",
    ),
    "uniq": Spec(
        "cdDiuz",
        "fsw:number",
        "count repeated all-repeated?none|prepend|separate ignore-case unique skip-fields=number skip-chars=number",
        most=1,
    ),
    "cut": Spec(
        "nsz",
        "bcf:list d:text",
        "bytes=list characters=list delimiter=text fields=list only-delimited complement output-delimiter=text",
    ),
    "tr": Spec("cCdst", words="complement delete squeeze-repeats truncate-set1", operands=(TEXT,)),
    "paste": Spec("sz", "d:text", "delimiters=text serial"),
    "join": Spec("iz", "av12j:number et:text o:list", "ignore-case header check-order nocheck-order"),
    "comm": Spec("123z", words="check-order nocheck-order output-delimiter=text total"),
    "column": Spec("tx", "c:number so:text", "table separator=text output-separator=text columns=number json"),
    "fold": Spec("bs", "w:number", "bytes spaces width=number"),
    "fmt": Spec("csu", "w:number", "width=number"),
    "expand": Spec("i", "t:list", "tabs=list"),
    "unexpand": Spec("a", "t:list", "all tabs=list"),
    "rev": Spec(),
    "diff": Spec(
        "abBcdeEiNnpqrstTuwyZ",
        "CUW:number IFx:text",
        "brief report-identical-files context?number unified?number ed rcs side-by-side width=number left-column "
        "suppress-common-lines show-c-function show-function-line=text expand-tabs initial-tab recursive new-file "
        "ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space "
        "ignore-blank-lines ignore-matching-lines=text text strip-trailing-cr minimal speed-large-files "
        f"color?{_WHEN} exclude=text normal no-dereference",
        most=2,
        recursive="-r --recursive",
        added=FOR_DIFF,
        numbers=True,
    ),
    "cmp": Spec(
        "bls",
        "n:size i:list",
        "print-bytes bytes=size verbose silent quiet ignore-initial=list",
        operands=(PATH, PATH, TEXT),
        most=4,
    ),
    "stat": Spec("fLtx", "c:format", "dereference file-system format=format printf=format terse"),
    "file": Spec("bhikLNr0", words="brief mime mime-type mime-encoding dereference no-dereference raw extension"),
    "du": Spec(
        "abcDhHklmPsSx0",
        "d:number B:names t:size",
        "all apparent-size block-size=names bytes total dereference-args max-depth=number human-readable si "
        "separate-dirs summarize threshold=size time?names one-file-system exclude=text null inodes",
    ),
    "df": Spec(
        "ahHiklPT",
        "Btx:names",
        "all block-size=names human-readable si inodes local portability print-type type=names exclude-type=names "
        "total output?names",
    ),
    "basename": Spec("az", "s:text", "multiple suffix=text zero", operands=(TEXT,), least=1),
    "dirname": Spec("z", words="zero", operands=(TEXT,), least=1),
    "realpath": Spec(
        "emLPqsz",
        words="canonicalize-existing canonicalize-missing no-symlinks quiet zero relative-to=path relative-base=path",
    ),
    "readlink": Spec("fenqsvmz", words="canonicalize canonicalize-existing canonicalize-missing no-newline zero"),
    "md5sum": _HASHES,
    "sha1sum": _HASHES,
    "sha256sum": _HASHES,
    "sha512sum": _HASHES,
    "b2sum": _HASHES,
    "cksum": Spec(),
    "shasum": Spec("bt", "a:number", "algorithm=number"),
    "md5": Spec("qr"),
    "xxd": Spec("beipu", "cglos:number", most=1),
    "hexdump": Spec("bcCdovx", "ns:size"),
    "od": Spec(
        "abcdfilosvx",
        "A:d|o|x|n jN:size t:names w?number",
        "address-radix=d|o|x|n skip-bytes=size read-bytes=size format=names output-duplicates width?number",
    ),
    "strings": Spec("aw", "n:number t:d|o|x e:s|S|b|l|B|L", "all bytes=number radix=d|o|x encoding=s|S|b|l|B|L"),
    "nm": Spec(
        "aAcCDgnopPrsSu",
        words="demangle dynamic extern-only defined-only undefined-only print-size size-sort numeric-sort",
    ),
    "readelf": Spec("ahlSsrdnVW", words="all file-header program-headers sections symbols relocs dynamic wide"),
    "size": Spec("AB", words="format=names"),
    "zcat": _ZCAT,
    "gzip": _GZIP,
    "gunzip": _GZIP,
    "bzip2": _GZIP,
    "xz": _GZIP,
    "bzcat": Spec(),
    "xzcat": Spec(),
    "tar": Spec("tzjJv", "f:path", "list gzip bzip2 xz zstd verbose file=path", operands=(TEXT,), extra=_check_tar),
    "unzip": Spec("lvZ1q", operands=(PATH, TEXT), extra=_check_unzip),
    "zipinfo": Spec("1lmsthv", operands=(PATH, TEXT)),
    "pwd": Spec("LP", most=0),
    "cd": Spec("LPe", most=1, least=1, extra=_check_cd),
    "echo": Spec("neE", operands=(TEXT,), ends=False),
    "printf": Spec(operands=(TEXT,), least=1, extra=_check_printf),
    "true": Spec(operands=(TEXT,), ends=False),
    "false": Spec(operands=(TEXT,), ends=False),
    ":": Spec(operands=(TEXT,), ends=False),
    "set": Spec("eu", "o:pipefail|errexit|nounset", operands=(TEXT,), ends=False, apart="o", extra=_check_set),
    "exit": Spec(operands=(TEXT,), most=1, ends=False, extra=_check_number),
    "break": Spec(operands=(TEXT,), most=1, ends=False, extra=_check_number),
    "continue": Spec(operands=(TEXT,), most=1, ends=False, extra=_check_number),
    "seq": Spec("w", "f:format s:text", "equal-width format=format separator=text", operands=(TEXT,)),
    "sleep": Spec(operands=(TEXT,), extra=_check_sleep),
    "date": Spec(
        "uR",
        "d:date I?date|hours|minutes|seconds|ns",
        "utc universal date=date iso-8601?date|hours|minutes|seconds|ns rfc-3339=date|seconds|ns rfc-email",
        operands=(TEXT,),
        extra=_check_date,
    ),
    "cal": _CAL,
    "ncal": _CAL,
    "expr": Spec(operands=(TEXT,), ends=False),
    "numfmt": Spec("dz", words="from=names to=names suffix=text padding=number round=names", operands=(TEXT,)),
    "shuf": Spec("ezr", "n:number i:list", "echo head-count=number input-range=list repeat zero-terminated", most=1),
    "uname": Spec(
        "asnrvmpio", words="all kernel-name nodename kernel-release kernel-version machine operating-system", most=0
    ),
    "whoami": Spec(most=0),
    "id": Spec("ugGnrz", words="user group groups name real", operands=(TEXT,)),
    "groups": Spec(operands=(TEXT,)),
    "hostname": Spec("s", most=0),
    "nproc": Spec(words="all ignore=number", most=0),
    "arch": Spec(most=0),
    "uptime": Spec("ps", words="pretty since", most=0),
    "free": Spec("bkmghtlw", words="bytes kibi mebi gibi human total wide", most=0),
    "tty": Spec("s", most=0),
    "locale": Spec("a", most=0),
    "getconf": Spec(operands=(TEXT,)),
    "ps": Spec("eAax", "o:columns pC:names", operands=(TEXT,), extra=_check_ps),
    "test": Spec(
        words="f=path d=path e=path s=path r=path w=path x=path L=path h=path z=text n=text",
        operands=(TEXT,),
        most=3,
        single=True,
        ends=False,
        ordered=True,
    ),
    "pgrep": Spec("lfxniov", "uPt:names", operands=(TEXT,), extra=_check_pgrep),
    "lscpu": Spec("J", most=0),
    "which": Spec("as", operands=(TEXT,), looks_up=True),
    "whereis": Spec("bms", operands=(TEXT,)),
    "type": Spec("atpPf", operands=(TEXT,), looks_up=True),
    "sed": Spec(
        "nErsuz",
        "e:program",
        "quiet silent regexp-extended expression=program separate unbuffered null-data posix debug sandbox",
        operands=(PROGRAM, PATH),
        shifted="-e --expression",
        program=embedded_scripts.check_sed,
    ),
    "awk": Spec("", "F:text v:assignment", operands=(PROGRAM, PATH), program=embedded_scripts.check_awk, ends=True),
    "jq": Spec(
        "ceCMnrjRsSa",
        words="arg+text argjson+text indent=number raw-output compact-output color-output monochrome-output null-input "
        "raw-input slurp sort-keys join-output ascii-output exit-status tab seq stream unbuffered",
        operands=(PROGRAM, PATH),
        program=embedded_scripts.check_jq,
        ends=False,
        apart="indent",
    ),
    "json.tool": Spec(
        words="sort-keys compact no-ensure-ascii json-lines no-indent tab indent=number", most=1, ends=False
    ),
    "tput": Spec(operands=(TEXT,), most=1, least=1, ends=False, extra=_check_tput),
    "pip list": Spec(
        "v",
        words="format=columns|freeze|json user local not-required exclude-editable verbose",
        most=0,
        looks_up=True,
    ),
    "pip show": Spec("fv", words="files verbose", operands=(TEXT,), least=1, looks_up=True),
    "pip freeze": Spec("l", words="all local user exclude-editable exclude=names", most=0, looks_up=True),
    "npm ls": Spec(
        "alp",
        words="all depth=number long parseable json global prod dev omit=names include=names link",
        operands=(TEXT,),
        looks_up=True,
    ),
    "npm root": Spec("g", words="global", most=0, looks_up=True),
    "npm prefix": Spec("g", words="global", most=0, looks_up=True),
    "go list": Spec(
        words="f=format json?names e deps m", operands=(TEXT,), single=True, glue="=", ends=False, looks_up=True
    ),
    "go version": Spec(most=0, looks_up=True),
    "go env": Spec(words="json", operands=(TEXT,), single=True, ends=False, looks_up=True),
}
READERS["gawk"] = READERS["mawk"] = READERS["awk"]
READERS["pip3 list"], READERS["pip3 show"], READERS["pip3 freeze"] = (
    READERS[f"pip {x}"] for x in ("list", "show", "freeze")
)
READERS["npm list"] = READERS["npm ls"]
READERS["fdfind"] = READERS["fd"]
SHOWS_PROCESSES = frozenset({"ps", "pgrep", "pstree", "top", "htop", "btop", "atop", "glances", "w", "lsof", "procs"})
"""Programs that may show the arguments of other processes, which may hold secrets."""
SUBCOMMANDS = frozenset({"pip", "pip3", "npm", "go"})
"""Programs whose second word is part of their name."""

_NAMES_ONLY = ("ls", "find", "fd", "fdfind", "tree", "stat", "du", "df", "realpath", "readlink", "cd", "test", "echo")
READERS |= {name: replace(READERS[name], names_only=True) for name in _NAMES_ONLY}
_IN_FRONT = ("printf", "awk", "gawk", "mawk", "tr", "basename", "cd", "type", "seq")
READERS |= {name: replace(READERS[name], in_front=True) for name in _IN_FRONT}
READERS["echo"] = replace(READERS["echo"], prints=True)
