"""Programs that show files and folders, their names, sizes and sums, and what archives hold."""

from halocline.policy.shell.programs.specs import Given, Role, Spec, needs_flag

TEXT, PATH = Role.TEXT, Role.PATH
_WHEN = "always|auto|never|yes|no"


def _check_tar(given: Given) -> str:
    if any(":" in path.text for path in given.paths):
        return "the archive may be on another machine"
    return "" if {"-t", "--list"} & set(given.names) else "it does more than list the archive"


_GZIP = Spec(
    "cdlqtv",
    words="stdout to-stdout decompress uncompress list test quiet verbose",
    extra=needs_flag("-c --stdout --to-stdout -l --list -t --test", "it compresses files"),
)

FILE_READERS: dict[str, Spec] = {
    "ls": Spec(
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        words="all almost-all author escape block-size=names ignore-backups "
        f"color?{_WHEN} colour?{_WHEN} directory dired classify?{_WHEN} file-type format=names full-time no-group "
        f"group-directories-first human-readable si dereference-command-line hide=text hyperlink?{_WHEN} "
        "indicator-style=names inode ignore=text kibibytes dereference numeric-uid-gid literal hide-control-chars "
        "show-control-chars quote-name quoting-style=names reverse recursive size sort=names time=names "
        "time-style=text tabsize=number width=number context zero",
    ),
    "tree": Spec(
        "adfixqNQpugshDFvtcUrAS",
        "L:number PI:text",
        "dirsfirst filesfirst noreport prune du si sort=names gitignore matchdirs ignore-case charset=names "
        "filelimit=number timefmt=format inodes device",
        apart="L P I",
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
    **dict.fromkeys(
        ("md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum"), Spec("bt", words="binary text tag zero quiet")
    ),
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
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "xz"), _GZIP),
    "zcat": Spec("fqv", words="force quiet"),
    "bzcat": Spec(),
    "xzcat": Spec(),
    "tar": Spec("tzjJv", "f:path", "list gzip bzip2 xz zstd verbose file=path", operands=(TEXT,), extra=_check_tar),
    "unzip": Spec("lvZ1q", operands=(PATH, TEXT), extra=needs_flag("-l -Z -v", "it does more than list the archive")),
    "zipinfo": Spec("1lmsthv", operands=(PATH, TEXT)),
}
