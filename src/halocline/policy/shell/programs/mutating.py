"""Programs that do more than read: their effects, and which of their words are targets.

These tables explain a command and make a decision stricter. Nothing is allowed because it is missing here.
"""

import re

from halocline.protocol.permission_rules import Effect
from halocline.protocol.values import Value, set_of

RIGHTFUL = Effect.WRITES_OUTSIDE
"""The effect of programs that change owners, groups and permissions of files."""
DESTROYS, WRITES, NETWORK, UNKNOWN = Effect.DESTRUCTIVE, Effect.WRITES_INSIDE, Effect.NETWORK, Effect.UNKNOWN


class Actor(Value, frozen=True):
    """The effect of a program. `does` is a verb phrase for reasons; `valued` flags take the next word.

    `targets` says which operands are changed: all, first, last, rest, none, or those of `of=`. With `into`, `-t FOLDER`
    may name the target folder instead. A program that writes has no known effect with flags other than `flags`.
    """

    effect: Effect
    does: str
    targets: str = "none"
    valued: str = ""
    into: bool = False
    flags: str = ""


_COPIES = "-v -f -n -i -u -p -r -R -a -d -t -T -L -P --recursive --archive --verbose --no-clobber"
_LINKS = "-s -f -n -v -r -t -T --symbolic --force"
ACTORS: dict[str, Actor] = {
    **dict.fromkeys(("rm", "rmdir", "unlink"), Actor(DESTROYS, "deletes", "all")),
    "shred": Actor(DESTROYS, "destroys", "all", "-n -s"),
    "wipefs": Actor(DESTROYS, "destroys", "all"),
    **dict.fromkeys(("fdisk", "parted"), Actor(DESTROYS, "repartitions", "all")),
    "truncate": Actor(DESTROYS, "truncates", "all", "-s -r"),
    "dd": Actor(DESTROYS, "writes to", "of="),
    "mv": Actor(WRITES, "moves", "all", "-S --suffix", into=True, flags="-v -f -n -i -u -t -T"),
    "cp": Actor(WRITES, "copies to", "last", "-S --suffix", into=True, flags=_COPIES),
    "ln": Actor(WRITES, "creates a link at", "last", "-S --suffix", into=True, flags=_LINKS),
    "install": Actor(WRITES, "copies to", "last", "-m -o -g -S --mode --owner --group", into=True),
    "mkdir": Actor(WRITES, "creates", "all", "-m", flags="-p -v -m --parents --verbose --mode"),
    "mkfifo": Actor(WRITES, "creates", "all", "-m"),
    "touch": Actor(WRITES, "creates or touches", "all", "-d -t -r", flags="-a -c -m -d -t -r --no-create"),
    "tee": Actor(WRITES, "writes to", "all", flags="-a -i --append"),
    "split": Actor(WRITES, "writes to", "rest", "-b -l -n -a", flags="-b -l -n -a -d"),
    "patch": Actor(UNKNOWN, "changes whatever files the patch names"),
    "chmod": Actor(WRITES, "changes permissions of", "rest", flags="-R -v -c -f -x -w -r -X"),
    "chown": Actor(RIGHTFUL, "changes the owner of", "rest"),
    "chgrp": Actor(RIGHTFUL, "changes the group of", "rest"),
    "setfacl": Actor(RIGHTFUL, "changes permissions of", "rest"),
    "setcap": Actor(RIGHTFUL, "gives privileges to", "rest"),
    "chattr": Actor(RIGHTFUL, "changes attributes of", "rest"),
    **dict.fromkeys(("unzip", "tar"), Actor(UNKNOWN, "unpacks whatever files the archive names")),
    "zip": Actor(WRITES, "packs into", "first", flags="-r -q -v -j -9 -0"),
    "gzip": Actor(WRITES, "compresses", "all", flags="-k -d -f -v -q -9 -1"),
    "gunzip": Actor(WRITES, "decompresses", "all", flags="-k -f -v -q"),
    **dict.fromkeys(("bzip2", "xz"), Actor(WRITES, "compresses", "all", flags="-k -d -f -v -q -9")),
    "zstd": Actor(WRITES, "compresses", "all", flags="-k -d -f -v -q -19"),
    **dict.fromkeys(("kill", "pkill", "killall"), Actor(UNKNOWN, "ends processes")),
}
_NETWORKING = set_of(
    """
    curl wget ssh scp sftp ftp nc ncat netcat telnet ping dig nslookup host whois traceroute rsync gh glab aws
    gcloud az heroku flyctl fly vercel netlify firebase kubectl helm terraform tofu pulumi ansible ansible-playbook
    docker podman docker-compose apt apt-get dnf yum apk pacman brew snap port npx bunx pnpx uvx pipx socat http
    https xh aria2c openssl psql mysql redis-cli mongosh mongo sqlcmd ngrok
    """
)
ACTORS |= dict.fromkeys(sorted(_NETWORKING), Actor(NETWORK, "uses the network"))
NETWORK_COMMANDS = {
    "git": "push fetch pull clone ls-remote request-pull send-email svn p4 lfs",
    "npm": "install i ci add update up publish view info outdated audit search login logout exec init create ping",
    "pnpm": "install i add update up publish view outdated audit dlx create import fetch",
    "yarn": "install add upgrade publish info outdated audit dlx create up",
    "bun": "install i add update publish x create",
    "pip": "install download search index wheel",
    "pip3": "install download search index wheel",
    "uv": "sync add pip lock publish tool python self",
    "poetry": "add install update publish lock self",
    "cargo": "install publish fetch add update search login owner yank",
    "go": "get install mod",
    "gem": "install push update fetch",
    "bundle": "install update add",
    "composer": "install update require create-project",
    "mvn": "deploy",
    "twine": "upload",
    "conda": "install create update search env",
    "deno": "install add publish upgrade",
    "rustup": "update install toolchain component target self",
    "dotnet": "restore add nuget tool",
}
GIT_DISCARDS = {
    "clean": ("deletes untracked files", ""),
    "rm": ("deletes files", ""),
    "restore": ("overwrites files", ""),
    "reset": ("discards work", "--hard|--merge|--keep"),
    "checkout": ("discards work", r"--|-f|--force|\."),
    "switch": ("discards work", "-f|--force|--discard-changes"),
}
"""Git commands that lose no more than a checkpoint holds: files of the folder that are not ignored.

A pattern is for the words with which they do so.
"""
GIT_DESTROYS = {
    "clean": ("deletes ignored files or other repositories", r"(?s)-[a-zA-Z]*([xX]|f[a-zA-Z]*f).*"),
    "filter-branch": ("rewrites history", ""),
    **dict.fromkeys(("gc", "prune"), ("drops old objects", "")),
    "update-ref": ("changes refs", ""),
    "branch": ("discards work", "-D|-f|--force|-M|-C"),
    "tag": ("discards work", "-d|--delete|-f|--force"),
    "stash": ("discards work", "drop|clear"),
    "reflog": ("discards work", "expire|delete"),
    "worktree": ("discards work", "remove|prune"),
    "push": ("discards work", "-f|--force|--delete|--mirror"),
}
"""Git commands that lose what no checkpoint holds."""
GIT_REACHES = (
    *(["remote", "update"], ["remote", "show"], ["remote", "prune"], ["remote", "add"], ["remote", "set-url"]),
    *(["submodule", "update"], ["submodule", "add"], ["submodule", "sync"], ["archive", "--remote"], ["remote", "-u"]),
)
"""First words of git commands that contact another machine, now or later."""
GIT_SHOWS_NOTHING = set_of(
    """
    add am apply bisect branch check-ignore checkout cherry cherry-pick clean clone commit commit-tree config
    count-objects describe fetch flow fsck gc hash-object help init lfs ls-files ls-remote ls-tree maintenance merge
    merge-base mergetool mv name-rev notes pack-refs prune pull push read-tree rebase remote repack replace rerere reset
    restore rev-list rev-parse revert rm shortlog sparse-checkout stash status submodule switch symbolic-ref tag
    update-index update-ref var version worktree write-tree
    """
)
"""Git commands that print no file's content, which no sandbox can hide: it is among git's own objects."""
RIGHTS = frozenset(
    {"sudo", "su", "doas", "pkexec", "runas", "runuser", "sg", "setpriv", "newgrp", "nsenter", "unshare", "chroot"}
    | {"capsh", "gosu", "su-exec", "setuidgid", "chpst", "machinectl", "bwrap", "firejail", "fakeroot", "proot"}
    | {"passwd", "useradd", "usermod", "userdel", "groupadd", "visudo", "mount", "umount", "insmod", "modprobe"}
)
PERSISTS = frozenset(
    {"at", "batch", "crontab", "systemctl", "systemd-run", "service", "launchctl", "nohup", "setsid", "daemonize"}
    | {"screen", "tmux", "disown", "start-stop-daemon", "update-rc.d", "chkconfig", "anacron", "pm2", "supervisorctl"}
)
"""Programs that start something that runs after the task ends."""
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"})
INTERPRETERS = set_of(
    """
    python python3 python2 node deno bun ruby perl php lua tclsh Rscript osascript pwsh powershell eval source .
    exec
    """
)


def why_git_loses(words: list[str], table: dict[str, tuple[str, str]]) -> str:
    """Say what a git command loses by a table; empty if it is not known to lose anything."""
    why, needed = table.get(words[0], ("", ""))
    return why if not needed or any(re.fullmatch(needed, word) for word in words[1:]) else ""
