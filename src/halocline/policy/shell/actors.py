"""What programs do that do more than read: where their targets stand, and what kind of effect they have.

These tables are for telling a person and for raising a decision. Nothing is allowed because it is missing here.
"""

from dataclasses import dataclass

from halocline.protocol.rules import Effect

DESTROYS, WRITES, NETWORK, UNKNOWN = Effect.DESTRUCTIVE, Effect.WRITES_INSIDE, Effect.NETWORK, Effect.UNKNOWN


@dataclass(frozen=True, slots=True)
class Actor:
    """`targets` says which operands are changed: all, last, rest, none, or of `of=`. `valued` flags take a word."""

    effect: Effect
    does: str
    targets: str = "none"
    valued: str = ""


ACTORS: dict[str, Actor] = {
    "rm": Actor(DESTROYS, "deletes", "all"),
    "rmdir": Actor(DESTROYS, "deletes", "all"),
    "unlink": Actor(DESTROYS, "deletes", "all"),
    "shred": Actor(DESTROYS, "destroys", "all", "-n -s"),
    "wipefs": Actor(DESTROYS, "destroys", "all"),
    "fdisk": Actor(DESTROYS, "changes disks", "all"),
    "parted": Actor(DESTROYS, "changes disks", "all"),
    "truncate": Actor(DESTROYS, "cuts", "all", "-s -r"),
    "dd": Actor(DESTROYS, "writes to", "of="),
    "mv": Actor(WRITES, "moves", "all", "-t -S"),
    "cp": Actor(WRITES, "copies to", "last", "-t -S"),
    "ln": Actor(WRITES, "links", "last", "-t -S"),
    "install": Actor(WRITES, "copies to", "last", "-m -o -g -t"),
    "mkdir": Actor(WRITES, "makes", "all", "-m"),
    "mkfifo": Actor(WRITES, "makes", "all", "-m"),
    "touch": Actor(WRITES, "makes or dates", "all", "-d -t -r"),
    "tee": Actor(WRITES, "writes to", "all"),
    "split": Actor(WRITES, "writes to", "last", "-b -l -n -a"),
    "patch": Actor(WRITES, "changes files", "none"),
    "chmod": Actor(WRITES, "changes rights of", "rest"),
    "chown": Actor(WRITES, "changes the owner of", "rest"),
    "chgrp": Actor(WRITES, "changes the group of", "rest"),
    "unzip": Actor(WRITES, "unpacks", "none"),
    "tar": Actor(WRITES, "packs or unpacks", "none"),
    "gzip": Actor(WRITES, "packs", "all"),
    "gunzip": Actor(WRITES, "unpacks", "all"),
    "crontab": Actor(DESTROYS, "changes what runs later"),
    "kill": Actor(UNKNOWN, "ends processes"),
    "pkill": Actor(UNKNOWN, "ends processes"),
    "killall": Actor(UNKNOWN, "ends processes"),
}
ACTORS |= {
    name: Actor(NETWORK, "reaches the network")
    for name in [
        "curl",
        "wget",
        "ssh",
        "scp",
        "sftp",
        "ftp",
        "nc",
        "ncat",
        "netcat",
        "telnet",
        "ping",
        "dig",
        "nslookup",
        "host",
        "whois",
        "traceroute",
        "rsync",
        "gh",
        "glab",
        "aws",
        "gcloud",
        "az",
        "heroku",
        "flyctl",
        "fly",
        "vercel",
        "netlify",
        "firebase",
        "kubectl",
        "helm",
        "terraform",
        "tofu",
        "pulumi",
        "ansible",
        "ansible-playbook",
        "docker",
        "podman",
        "docker-compose",
        "apt",
        "apt-get",
        "dnf",
        "yum",
        "apk",
        "pacman",
        "brew",
        "snap",
        "port",
        "npx",
        "bunx",
        "pnpx",
        "uvx",
        "pipx",
        "socat",
        "http",
        "https",
        "xh",
        "aria2c",
        "openssl",
        "psql",
        "mysql",
        "redis-cli",
        "mongosh",
        "mongo",
        "sqlcmd",
        "ngrok",
    ]
}
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
GIT_DESTROYS = {
    "clean": "deletes untracked files",
    "rm": "deletes files",
    "restore": "overwrites files",
    "filter-branch": "rewrites history",
    "gc": "drops old objects",
    "prune": "drops old objects",
    "update-ref": "changes refs",
}
GIT_DESTROYS_WITH = {
    "reset": ("--hard", "--merge", "--keep"),
    "checkout": ("--", "-f", "--force", "."),
    "switch": ("-f", "--force", "--discard-changes"),
    "branch": ("-D", "-d", "--delete", "-f", "--force", "-M"),
    "tag": ("-d", "--delete", "-f", "--force"),
    "stash": ("drop", "clear", "pop"),
    "reflog": ("expire", "delete"),
    "worktree": ("remove", "prune"),
    "push": ("-f", "--force", "--delete", "--mirror"),
}
RIGHTS = frozenset({"sudo", "su", "doas", "pkexec", "runas"})
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"})
INTERPRETERS = frozenset(
    [
        "python",
        "python3",
        "python2",
        "node",
        "deno",
        "bun",
        "ruby",
        "perl",
        "php",
        "lua",
        "tclsh",
        "Rscript",
        "osascript",
        "pwsh",
        "powershell",
        "eval",
        "source",
        ".",
        "exec",
    ]
)


def git_destroys(words: list[str]) -> str:
    """What a git command destroys; empty when it is none of those that are known."""
    name, rest = words[0], words[1:]
    if name in GIT_DESTROYS:
        return GIT_DESTROYS[name]
    return "discards work" if any(word in GIT_DESTROYS_WITH.get(name, ()) for word in rest) else ""
