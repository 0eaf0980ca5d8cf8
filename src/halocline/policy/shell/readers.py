"""The programs that only read, with the flags that keep it so: none that write, run, connect or follow links."""

import re
import shlex
from dataclasses import replace

from halocline.policy.sensitive_names import SECRET_FILES
from halocline.policy.shell import little_languages
from halocline.policy.shell.specs import Given, Role, Spec

PATH, TEXT, NAMED, PROGRAM = Role.PATH, Role.TEXT, Role.NAMED, Role.PROGRAM

_WITHOUT_SECRETS = tuple(f"--exclude={shlex.quote(name)}" for name in SECRET_FILES)
_NUMBER = re.compile(r"\d{1,4}(\.\d+)?[smhd]?")
_PS = re.compile(r"auxf?w{0,2}|axuf?|axf?|ax")
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
"""Programs that tell their version by one of these words alone; none that would fetch themselves first."""


def _date(given: Given) -> str:
    return "" if all(word.text.startswith("+") for word in given.operands) else "it may set the clock"


def _cd(given: Given) -> str:
    return "where that is, is known only when it runs" if given.operands[0].text == "-" else ""


def _sleep(given: Given) -> str:
    return "" if all(_NUMBER.fullmatch(word.text) for word in given.operands) else "it is no plain number"


def _ps(given: Given) -> str:
    return "" if all(_PS.fullmatch(word.text) for word in given.operands) else "it may show what others were given"


def _printf(given: Given) -> str:
    return "it may set a variable" if _SETS.search(given.operands[0].text) else ""


def _tar(given: Given) -> str:
    if any(":" in path.text for path in given.paths):
        return "the archive may be on another machine"
    return "" if {"-t", "--list"} & set(given.names) else "it does not list"


def _unzip(given: Given) -> str:
    return "" if {"-l", "-Z", "-v"} & set(given.names) else "it does not list"


_HASHES = Spec("bt", words="binary text tag zero quiet")
_GREP = Spec(
    "abcEFGhHiIlLnoPqrRsTvwxyzZ",
    "ABCedfm",
    "after-context= before-context= context= binary-files= byte-offset color? colour? count exclude= exclude-dir= "
    "extended-regexp file=path files-with-matches files-without-match fixed-strings basic-regexp perl-regexp "
    "regexp=program "
    "ignore-case no-ignore-case include= initial-tab invert-match line-buffered line-number line-regexp max-count= "
    "no-filename with-filename no-messages null null-data only-matching quiet silent recursive text word-regexp "
    "directories=",
    operands=(TEXT, PATH),
    numbers=True,
    paths="f",
    programs="e",
    shifted="-e --regexp -f --file",
    renamed={"-R": "-r"},
    recursive="-r -R --recursive -d --directories",
    added=_WITHOUT_SECRETS,
)
_ZCAT = Spec("fqv", words="force quiet")

READERS: dict[str, Spec] = {
    "ls": Spec(
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        words="all almost-all author escape block-size= ignore-backups color? colour? directory dired classify? "
        "file-type format= "
        "full-time no-group group-directories-first human-readable si dereference-command-line hide= hyperlink? "
        "indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars "
        "show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= "
        "context zero",
    ),
    "cat": Spec(
        "AbeEnstTuv",
        words="show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
    ),
    "head": Spec("qvz", "nc", "quiet silent verbose zero-terminated lines= bytes=", numbers=True),
    "tail": Spec("qvzr", "nc", "quiet silent verbose zero-terminated lines= bytes=", numbers=True),
    "tac": Spec("br", "s", "before regex separator="),
    "nl": Spec("p", "bdfhilnsvw"),
    "wc": Spec("clmwL", words="bytes chars lines words max-line-length total="),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": Spec(
        "abcFhHiIlnNopPqsSUuvVwx0.",
        "ABCegtTmMjdr",
        "after-context= before-context= context= color= colors= column count count-matches crlf case-sensitive debug "
        "engine= field-match-separator= files files-with-matches files-without-match fixed-strings glob= iglob= "
        "heading "
        "hidden ignore-case invert-match json line-buffered line-number line-regexp max-columns= max-count= max-depth= "
        "max-filesize= multiline multiline-dotall no-config no-filename no-heading no-ignore no-ignore-vcs "
        "no-ignore-parent "
        "no-line-number no-messages no-unicode null only-matching passthru pcre2 pretty quiet regexp=program replace= "
        "smart-case sort= sortr= stats text threads= trim trim type= type-not= type-list unrestricted version vimgrep "
        "with-filename word-regexp",
        operands=(TEXT, PATH),
        programs="e",
        shifted="-e --regexp --files --type-list",
        added=tuple(f"--glob={shlex.quote(f'!{name}')}" for name in SECRET_FILES),
        recursive="always",
    ),
    "find": Spec(
        words="H P E maxdepth= mindepth= depth d mount xdev name= iname= path= ipath= wholename= iwholename= regex= "
        "iregex= "
        "regextype= type= xtype= size= empty newer=path anewer=path cnewer=path newermt= newerct= newerat= mtime= "
        "atime= "
        "ctime= mmin= amin= cmin= perm= user= group= uid= gid= nouser nogroup links= inum= samefile=path readable "
        "writable "
        "executable true false not and a or o print print0 printf= ls prune quit daystart noleaf ignore_readdir_race",
        single=True,
        ends=False,
        ordered=True,
    ),
    "fd": Spec(
        "HIsiFapl0u1g",
        "dtEeScjm",
        "hidden no-ignore no-ignore-vcs case-sensitive ignore-case glob regex fixed-strings absolute-path list-details "
        "full-path print0 max-depth= min-depth= exact-depth= type= extension= size= changed-within= changed-before= "
        "exclude= color= max-results= quiet unrestricted show-errors base-directory=path strip-cwd-prefix",
        operands=(TEXT, PATH),
    ),
    "tree": Spec(
        "adfixqNQpugshDFvtcUrAS",
        "LPIHT",
        "dirsfirst filesfirst noreport prune du si sort= gitignore matchdirs ignore-case charset= filelimit= "
        "timefmt= inodes "
        "device",
    ),
    "sort": Spec(
        "bdfghiMnrRsuVzcCm",
        "ktS",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort "
        "numeric-sort "
        "reverse stable unique version-sort zero-terminated key= field-separator= check? sort= merge",
    ),
    "uniq": Spec("cdDiuz", "fsw", "count repeated all-repeated? ignore-case unique skip-fields= skip-chars=", most=1),
    "cut": Spec("nsz", "bcdf", "bytes= characters= delimiter= fields= only-delimited complement output-delimiter="),
    "tr": Spec("cCdst", words="complement delete squeeze-repeats truncate-set1", operands=(TEXT,)),
    "paste": Spec("sz", "d", "delimiters= serial"),
    "join": Spec("iz", "aetvjo12", "ignore-case header check-order nocheck-order"),
    "comm": Spec("123z", words="check-order nocheck-order output-delimiter= total"),
    "column": Spec("txn", "cso", "table separator= output-separator= columns= json"),
    "fold": Spec("bs", "w", "bytes spaces width="),
    "fmt": Spec("cstu", "wp", "width="),
    "expand": Spec("i", "t", "tabs="),
    "unexpand": Spec("a", "t", "all tabs="),
    "rev": Spec(),
    "diff": Spec(
        "abBcdeEiNnpqrstTuwyZ",
        "CUIFxW",
        "brief report-identical-files context? unified? ed rcs side-by-side width= left-column suppress-common-lines "
        "show-c-function show-function-line= expand-tabs initial-tab recursive new-file ignore-case "
        "ignore-tab-expansion "
        "ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text "
        "strip-trailing-cr minimal speed-large-files color? exclude= normal no-dereference",
        most=2,
        recursive="-r --recursive",
        added=_WITHOUT_SECRETS,
        numbers=True,
    ),
    "cmp": Spec(
        "bls", "in", "print-bytes bytes= verbose silent quiet ignore-initial=", operands=(PATH, PATH, TEXT), most=4
    ),
    "stat": Spec("fLtx", "c", "dereference file-system format= printf= terse"),
    "file": Spec("bhikLNr0", words="brief mime mime-type mime-encoding dereference no-dereference raw extension"),
    "du": Spec(
        "abcDhHklmPsSx0",
        "dBt",
        "all apparent-size block-size= bytes total dereference-args max-depth= human-readable si separate-dirs "
        "summarize "
        "threshold= time? one-file-system exclude= null inodes",
    ),
    "df": Spec(
        "ahHiklPT",
        "Btx",
        "all block-size= human-readable si inodes local portability print-type type= exclude-type= total output?",
    ),
    "basename": Spec("az", "s", "multiple suffix= zero", operands=(TEXT,), least=1),
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
    "shasum": Spec("bt", "a", "algorithm="),
    "md5": Spec("qr"),
    "xxd": Spec("beipu", "cglos", most=1),
    "hexdump": Spec("bcCdovx", "ns"),
    "od": Spec("abcdfilosvx", "AjNtw", "address-radix= skip-bytes= read-bytes= format= output-duplicates"),
    "strings": Spec("aw", "nte", "all bytes= radix= encoding="),
    "nm": Spec(
        "aAcCDgnopPrsSu",
        words="demangle dynamic extern-only defined-only undefined-only print-size size-sort numeric-sort",
    ),
    "size": Spec("AB", words="format="),
    "zcat": _ZCAT,
    "bzcat": Spec(),
    "xzcat": Spec(),
    "tar": Spec("tzjJv", "f", "list gzip bzip2 xz zstd verbose file=path", paths="f", operands=(TEXT,), extra=_tar),
    "unzip": Spec("lvZ1q", operands=(PATH, TEXT), extra=_unzip),
    "zipinfo": Spec("1lmsthv", operands=(PATH, TEXT)),
    "pwd": Spec("LP", most=0),
    "cd": Spec("LPe", most=1, least=1, extra=_cd),
    "echo": Spec("neE", operands=(TEXT,), ends=False),
    "printf": Spec(operands=(TEXT,), least=1, extra=_printf),
    "true": Spec(operands=(TEXT,), ends=False),
    "false": Spec(operands=(TEXT,), ends=False),
    ":": Spec(operands=(TEXT,), ends=False),
    "seq": Spec("w", "fs", "equal-width format= separator=", operands=(TEXT,)),
    "sleep": Spec(operands=(TEXT,), extra=_sleep),
    "date": Spec("uIR", "d", "utc universal date= iso-8601? rfc-3339= rfc-email", operands=(TEXT,), extra=_date),
    "cal": Spec("13jmsywhn", "AB", operands=(TEXT,)),
    "uname": Spec(
        "asnrvmpio", words="all kernel-name nodename kernel-release kernel-version machine operating-system", most=0
    ),
    "whoami": Spec(most=0),
    "id": Spec("ugGnrz", words="user group groups name real", operands=(TEXT,)),
    "groups": Spec(operands=(TEXT,)),
    "hostname": Spec("s", most=0),
    "nproc": Spec(words="all ignore=", most=0),
    "arch": Spec(most=0),
    "uptime": Spec("ps", words="pretty since", most=0),
    "free": Spec("bkmghtlw", words="bytes kibi mebi gibi human total wide", most=0),
    "tty": Spec("s", most=0),
    "locale": Spec("a", most=0),
    "getconf": Spec(operands=(TEXT,)),
    "ps": Spec(
        words="aux axu ax auxf auxww ef e A a x u eF efl f l p= o= C= ppid= pid= sort= forest no-headers",
        operands=(TEXT,),
        single=True,
        ends=False,
        ordered=True,
        extra=_ps,
    ),
    "test": Spec(
        words="f=path d=path e=path s=path r=path w=path x=path L=path h=path z= n=",
        operands=(TEXT,),
        most=3,
        single=True,
        ends=False,
        ordered=True,
    ),
    "pgrep": Spec("alfxniov", "uPt", operands=(TEXT,)),
    "lscpu": Spec("J", most=0),
    "which": Spec("as", operands=(TEXT,), looks_up=True),
    "whereis": Spec("bms", operands=(TEXT,)),
    "type": Spec("atpPf", operands=(TEXT,), looks_up=True),
    "sed": Spec(
        "nErsuz",
        "e",
        "quiet silent regexp-extended expression=program separate unbuffered null-data posix debug sandbox",
        operands=(PROGRAM, PATH),
        programs="e",
        shifted="-e --expression",
        program=little_languages.sed,
    ),
    "awk": Spec("", "Fv", operands=(PROGRAM, PATH), program=little_languages.awk, ends=True),
    "jq": Spec(
        "ceCMnrjRsSa",
        words="raw-output compact-output color-output monochrome-output null-input raw-input slurp sort-keys "
        "join-output "
        "ascii-output exit-status tab seq stream unbuffered",
        operands=(PROGRAM, PATH),
        program=little_languages.jq,
        ends=False,
    ),
    "pip list": Spec("v", words="format= user local not-required exclude-editable verbose", most=0, looks_up=True),
    "pip show": Spec("fv", words="files verbose", operands=(TEXT,), least=1, looks_up=True),
    "pip freeze": Spec("l", words="all local user exclude-editable exclude=", most=0, looks_up=True),
    "npm ls": Spec(
        "alp",
        words="all depth= long parseable json global prod dev omit= include= link",
        operands=(TEXT,),
        looks_up=True,
    ),
    "npm root": Spec("g", words="global", most=0, looks_up=True),
    "npm prefix": Spec("g", words="global", most=0, looks_up=True),
    "go list": Spec(words="f= json? e deps m", operands=(TEXT,), single=True, ends=False, looks_up=True),
    "go version": Spec(most=0, looks_up=True),
    "go env": Spec(words="json", operands=(TEXT,), single=True, ends=False, looks_up=True),
}
READERS["gawk"] = READERS["mawk"] = READERS["awk"]
READERS["pip3 list"], READERS["pip3 show"], READERS["pip3 freeze"] = (
    READERS[f"pip {x}"] for x in ("list", "show", "freeze")
)
READERS["npm list"] = READERS["npm ls"]
READERS["fdfind"] = READERS["fd"]
SUBCOMMANDS = frozenset({"pip", "pip3", "npm", "go"})
"""Programs whose second word is a part of their name."""

_NAMES_ONLY = ("ls", "find", "fd", "fdfind", "tree", "stat", "du", "df", "realpath", "readlink", "cd", "test", "echo")
READERS |= {name: replace(READERS[name], names_only=True) for name in _NAMES_ONLY}
_IN_FRONT = ("printf", "awk", "gawk", "mawk", "tr", "basename", "cd", "type", "seq")
READERS |= {name: replace(READERS[name], in_front=True) for name in _IN_FRONT}
READERS["echo"] = replace(READERS["echo"], prints=True)
