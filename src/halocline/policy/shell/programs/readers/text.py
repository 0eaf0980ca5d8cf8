"""Programs that print, cut, sort, compare and search text, and those that find files."""

from halocline.policy.shell.programs import embedded_scripts
from halocline.policy.shell.programs.exclusions import FOR_DIFF, FOR_GREP, FOR_RIPGREP
from halocline.policy.shell.programs.specs import Role, Spec

TEXT, PATH, PROGRAM = Role.TEXT, Role.PATH, Role.PROGRAM
_WHEN = "always|auto|never|yes|no"
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

TEXT_READERS: dict[str, Spec] = {
    "cat": Spec(
        "AbeEnstTuv", words="show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"
    ),
    "head": Spec("qvz", "nc:size", "quiet silent verbose zero-terminated lines=size bytes=size", numbers=True),
    "tail": Spec("qvzr", "nc:size", "quiet silent verbose zero-terminated lines=size bytes=size", numbers=True),
    "tac": Spec("br", "s:text", "before regex separator=text"),
    "nl": Spec("p", "bfh:text ds:text ilvw:number n:ln|rn|rz"),
    "wc": Spec("clmwL", words="bytes chars lines words max-line-length total=auto|always|only|never"),
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
    "numfmt": Spec("dz", words="from=names to=names suffix=text padding=number round=names", operands=(TEXT,)),
    "shuf": Spec("ezr", "n:number i:list", "echo head-count=number input-range=list repeat zero-terminated", most=1),
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
    # Programs that search in files, and for files.
    **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
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
}
