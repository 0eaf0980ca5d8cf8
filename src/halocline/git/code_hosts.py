"""Pull requests for branches that were pushed, through the programs of code hosts: GitHub's `gh` and GitLab's `glab`.

They sign in by themselves: no key of a code host is known here. A commit has one request, also after a kill: the
host is asked for it first.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from halocline.git.pull_request import INSTALL, TOKENS, ask_code_host, find_gh, find_link, split_address
from halocline.git.push import hide_password
from halocline.protocol import json_input, json_output
from halocline.protocol.child_environment import ChildEnvironment
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

ALL_TOKENS = (*TOKENS, "GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN")
"""Variables from which the programs take their keys."""
_INSTALLS = {
    "gh": INSTALL,
    "glab": "Install GitLab's program glab (https://gitlab.com/gitlab-org/cli) and sign in once: glab auth login",
}


class CodeHost(NamedTuple):
    """A repository at a code host, by its path there, and the program that signs in to it."""

    host: str
    path: str
    program: str

    @property
    def is_gitlab(self) -> bool:
        return Path(self.program).name == "glab"


class NewRequest(Value, frozen=True):
    """A pull request for `branch`, to be merged into `base`."""

    branch: str
    base: str
    title: str
    body: str


class _OfGitHub(Value, frozen=True):
    url: str
    is_foreign: bool = msgspec.field(default=False, name="isCrossRepository")
    commit: str = msgspec.field(default="", name="headRefOid")
    body: str = ""


class _OfGitLab(Value, frozen=True):
    url: str = msgspec.field(name="web_url")
    source_project_id: int | None = None
    target_project_id: int | None = None
    commit: str | None = msgspec.field(default=None, name="sha")
    body: str | None = msgspec.field(default=None, name="description")

    @property
    def is_foreign(self) -> bool:
        return self.source_project_id != self.target_project_id


_github = json_input.Decoder(list[_OfGitHub])
_gitlab = json_input.Decoder(list[_OfGitLab])
_made = json_input.Decoder(_OfGitLab)


async def find_code_host(url: str, folder: Path, environment: ChildEnvironment) -> CodeHost:
    """Return the code host of a remote's address, to which its program is signed in. Raises UsageError."""
    host, path = split_address(url)
    if not host:
        raise UsageError(
            f"No pull request can be opened at {hide_password(url)}: that is no repository of a code host.",
            "Name a remote such as git@github.com:owner/name.git.",
        )
    names = ("glab",) if "gitlab" in host else ("gh",) if "github" in host else ("gh", "glab")
    found = [program for name in names if (program := find_gh(folder, name))]
    if not found:
        raise UsageError(f"For pull requests at {host}, {' or '.join(names)} was not found.", _INSTALLS[names[0]])
    for program in found:
        try:
            # Not in the folder: glab would take settings from its git folder, also where to send the key.
            await ask_code_host(program, ("auth", "status", "--hostname", host), Path("/"), environment)
        except UsageError as error:
            refused = error
            continue
        return CodeHost(host, path, program)
    name = Path(found[-1]).name
    raise UsageError(f"{name} is not signed in to {host}: {refused.text}", f"Sign in once: {name} auth login")


async def find_request(where: CodeHost, branch: str, commit: str, folder: Path, environment: ChildEnvironment) -> str:
    """Return the address of the request for a commit, open or not; empty if there is none. Raises UsageError.

    It is one of its branch that ends with it, or whose description names it: others may have pushed more. A branch
    of this name may have had others, for what a batch of the same name did before.
    """
    try:
        if where.is_gitlab:
            query = f"{_name_requests(where)}?state=all&per_page=100&source_branch={quote(branch, safe='')}"
            text = await ask_code_host(where.program, ("api", "--hostname", where.host, query), folder, environment)
            made: Sequence[_OfGitHub | _OfGitLab] = _gitlab.decode(text)
        else:
            place = (f"--repo={where.host}/{where.path}", f"--head={branch}", "--state=all", "--limit=100")
            words = ("pr", "list", *place, "--json=url,isCrossRepository,headRefOid,body")
            text = await ask_code_host(where.program, words, folder, environment)
            made = _github.decode(text or "[]")
    except msgspec.DecodeError as error:
        raise UsageError(f"The answer about {branch} cannot be read: {error}", "No pull request was opened.") from error
    ours = (one.url for one in made if not one.is_foreign and (one.commit == commit or commit in (one.body or "")))
    return next(ours, "")


async def open_request(where: CodeHost, wanted: NewRequest, folder: Path, environment: ChildEnvironment) -> str:
    """Open a request and return its address. Raises UsageError with the program's message."""
    if not where.is_gitlab:
        place = (f"--repo={where.host}/{where.path}", f"--head={wanted.branch}", f"--base={wanted.base}")
        words = ("pr", "create", *place, f"--title={wanted.title}", "--body-file=-")
        return find_link(await ask_code_host(where.program, words, folder, environment, wanted.body.encode()))
    fields = {
        "source_branch": wanted.branch,
        "target_branch": wanted.base,
        "title": wanted.title,
        "description": wanted.body,
    }
    how = ("--method=POST", "--header=Content-Type: application/json", "--input=-")
    words = ("api", "--hostname", where.host, *how, _name_requests(where))
    text = await ask_code_host(where.program, words, folder, environment, json_output.encode(fields))
    try:
        return _made.decode(text).url
    except msgspec.DecodeError as error:
        raise UsageError(f"The answer of glab cannot be read: {error}", "Look at the branch there.") from error


def _name_requests(where: CodeHost) -> str:
    return f"projects/{quote(where.path, safe='')}/merge_requests"
