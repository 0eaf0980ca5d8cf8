"""Programs that search: in files, and for files."""

from halocline.policy.shell.programs.exclusions import FOR_GREP, FOR_RIPGREP
from halocline.policy.shell.programs.specs import Role, Spec

TEXT, PATH = Role.TEXT, Role.PATH
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

SEARCH_READERS: dict[str, Spec] = {
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
}
