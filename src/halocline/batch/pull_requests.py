"""Pull requests for the results of a batch: each is a branch of its own, pushed once, with one request.

The program of the code host signs in; git does, too. A push makes a new branch and changes none. What must stay true:
what is pushed comes from the item's private git folder, so that nothing that a task wrote decides where it goes.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.batch.folders import find_store
from halocline.batch.items import Item, PlaceKind
from halocline.batch.places import choose_kind
from halocline.batch.queue import Outcome, Queue, Standing
from halocline.batch.results import describe_change, name_branch, name_folder, quiet_text, write_subject
from halocline.batch.tree_changes import TreeChanges
from halocline.client.tasks import Client
from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.git.clone import check_address
from halocline.git.code_hosts import ALL_TOKENS, CodeHost, NewRequest, find_code_host, find_request, open_request
from halocline.git.push import (
    RemoteBranches,
    find_remote,
    find_urls,
    hide_password,
    is_published,
    push_new_branch,
    read_remote,
)
from halocline.git.repository import GitUnusable, ask_git, find_repository
from halocline.protocol import json_input, json_output
from halocline.protocol.child_environment import declare_environment
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.terminal_text import plain_text
from halocline.protocol.values import Value
from halocline.protocol.waiting import end_tasks

_KINDS = (PlaceKind.WORKTREE, PlaceKind.CLONE, PlaceKind.CONTAINER)
LONGEST_ANSWER, LONGEST_PROMPT, LONGEST_LINE = 8_000, 4_000, 300
_FENCE = re.compile(r"^ {0,3}```", re.MULTILINE)
NONE = "No pull request"
_TARGETS = "remotes.json"


class Target(Value, frozen=True):
    """The destination of a repository's results: an address, and the branch to merge them into if it is there.

    `top` and `remote` are those of a repository on this machine.
    """

    url: str
    base: str
    top: str = ""
    remote: str = ""


class PullRequests:
    """Opens them, one after another. `check` finds out where they go before anything runs."""

    def __init__(self, batch: Path, client: Client) -> None:
        self._batch = batch
        self._client = client
        self._targets: dict[tuple[str, str], Target] = {}
        self._hosts: dict[str, CodeHost] = {}
        self._remotes: dict[Target, RemoteBranches] = {}
        self._published = set[tuple[Target, str]]()
        self._turn = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._git = client.committing.make_environment()
        self._signs_in = client.committing.make_environment(ALL_TOKENS)

    async def check(self, standings: Sequence[Standing]) -> list[str]:
        """Return the repositories that get pull requests. Raises UsageError for an item that can have none."""
        for standing in standings:
            target = await self._find_target(standing.item)
            if target.url not in self._hosts:
                self._hosts[target.url] = await find_code_host(target.url, _find_work(target), self._signs_in)
            if target.top and not standing.task and (target, standing.item.revision) not in self._published:
                commit = await asyncio.to_thread(_read_commit, target.top, standing.item.revision)
                await self._require_published(target, commit)
                self._published.add((target, standing.item.revision))
            branch = name_branch(self._batch.name, standing)
            if not standing.task and branch in (await self._read_remote(target)).commits:
                raise UsageError(
                    f"The branch {branch} is at {hide_password(target.url)} already, and would be left as it is.",
                    "Give the batch another name: --name NAME",
                )
        await asyncio.to_thread(self._require_same)
        return sorted({_name_host(one) for one in self._hosts.values()})

    async def note_targets(self) -> None:
        """Keep where results go, before a task runs: it could change the settings of its repository."""
        known = await asyncio.to_thread(self._read_targets)
        data = json_output.encode({**self._list_targets(), **known})
        await asyncio.to_thread(write_whole, self._batch / _TARGETS, data)

    def _list_targets(self) -> dict[str, str]:
        return {folder: _name_host(self._hosts[target.url]) for (folder, _), target in self._targets.items()}

    def _read_targets(self) -> dict[str, str]:
        path = self._batch / _TARGETS
        return json_input.decode(read_regular(path), type=dict[str, str]) if path.exists() else {}

    def _require_same(self) -> None:
        """Raise UsageError for a repository whose results went elsewhere when the batch began."""
        known = self._read_targets()
        for folder, place in self._list_targets().items():
            if known.get(folder, place) != place:
                raise UsageError(
                    f"Results of {folder} went to {known[folder]} when this batch began; its remote is {place} now.",
                    f"If you changed it yourself, remove {self._batch / _TARGETS}.",
                )

    def stop(self) -> None:
        """Open no more, and leave what is being opened: the next start of the batch does it."""
        self._stopping.set()

    async def publish(self, standing: Standing, outcome: Outcome) -> Outcome:
        """Open the pull request of an item that passed and changed something; if that fails, the outcome says why."""
        if not lacks_request(outcome):
            return outcome
        try:
            async with self._turn:
                address = await self._publish_until_stopped(standing, outcome)
        except (HaloclineError, OSError) as error:
            text = error.text if isinstance(error, HaloclineError) else str(error)
            return replace(outcome, problem=f"{NONE}: {self._client.committing.redact(text)}")
        problem = "" if outcome.problem.startswith(NONE) else outcome.problem
        return replace(outcome, pull_request=address, problem=problem)

    async def publish_left(self, queue: Queue, ids: Sequence[str]) -> AsyncIterator[Standing]:
        """Open those of items that ended before without one. Raises HaloclineError if the queue cannot be written."""
        for standing in [queue.items[id] for id in ids]:
            if standing.outcome and lacks_request(standing.outcome):
                await queue.end(standing.item.id, await self.publish(standing, standing.outcome))
                yield queue.items[standing.item.id]

    async def _publish_until_stopped(self, standing: Standing, outcome: Outcome) -> str:
        opening = asyncio.ensure_future(self._publish(standing, outcome))
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([opening, stopping], return_when=asyncio.FIRST_COMPLETED)
            if self._stopping.is_set() and not opening.done():
                raise UsageError("the batch was stopped before.", "Start it again.")
            return opening.result()
        finally:
            await end_tasks(opening, stopping)

    async def _publish(self, standing: Standing, outcome: Outcome) -> str:
        target, store = await self._find_target(standing.item), find_store(self._batch, standing)
        redact, branch = self._client.committing.redact, name_branch(self._batch.name, standing)
        parent = await asyncio.to_thread(_read_parent, store)
        await self._require_published(target, parent)
        changes = TreeChanges(store, store)
        commit = await changes.commit_change(parent, describe_change(standing, outcome, redact))
        if self._client.committing.holds_key((await changes.read_contents(parent, commit)).decode(errors="replace")):
            raise UsageError("the change has a key that is known here, so it was not pushed.", "Look at the patch.")
        host = self._hosts[target.url]
        if found := await find_request(host, branch, commit, store, self._signs_in):
            return found
        base = await self._push(target, store, branch, commit)
        wanted = NewRequest(branch, base, write_subject(standing, redact), self._describe(standing, outcome, commit))
        return await open_request(host, wanted, store, self._signs_in)

    async def _read_remote(self, target: Target) -> RemoteBranches:
        """Return the branches of this batch at a remote, and the base, as they were when it was read: once."""
        if target not in self._remotes:
            alone = declare_environment(self._git, {"GIT_DIR": os.devnull})  # no settings of a repository
            names = (f"{name_folder(self._batch.name)}/*", target.base)
            self._remotes[target] = await read_remote(_find_work(target), target.url, names, alone)
        return self._remotes[target]

    async def _push(self, target: Target, store: Path, branch: str, commit: str) -> str:
        """Push a commit as a new branch, unless that is there with it; return the branch to merge it into.

        A remote is read once: where more has happened there since, the push fails. Raises UsageError.
        """
        git = declare_environment(self._git, {"GIT_DIR": os.fspath(store)})
        default, commits = await self._read_remote(target)
        if commits.get(branch, commit) != commit:
            raise UsageError(
                f"the branch {branch} is at the remote already, and is left as it is.",
                "Rename it, or run a batch of another name.",
            )
        if branch not in commits:
            try:
                await push_new_branch(store, target.url, commit, branch, git)
            except BaseException:  # it may be there all the same
                del self._remotes[target]
                raise
            commits[branch] = commit
        return target.base if target.base in commits else default or "main"

    def _describe(self, standing: Standing, outcome: Outcome, commit: str) -> str:
        """Return the description: what was done, what accepted it, what it cost, and what had been asked for."""
        item = standing.item
        lines = [f"Item {_quote_code(item.id)} of the batch {_quote_code(self._batch.name)}, by {outcome.model}"]
        if item.accept:
            lines.append(f"Accepted by {_quote_code(self._show(item.accept, LONGEST_LINE))}: exit code 0")
        cost = "an unknown price" if outcome.cost is None else f"${outcome.cost:.4f}"
        took = f"requests: {outcome.requests}, calls: {outcome.calls}, seconds: {outcome.seconds:.0f}"
        lines += (
            f"Cost: {cost} ({took})",
            f"Change: +{outcome.added} -{outcome.removed} (files: {outcome.files}), {commit}",
        )
        asked = "\n".join(f"> {line}" for line in self._show(item.prompt, LONGEST_PROMPT).splitlines())
        facts = "\n".join(f"- {line}" for line in lines)
        answer = self._show(outcome.text, LONGEST_ANSWER)
        is_open = len(_FENCE.findall(answer)) % 2  # what follows would be code
        return "\n\n".join((f"{answer}\n```" if is_open else answer, "---", facts, "Asked for:", asked))

    def _show(self, text: str, most: int) -> str:
        """Return a text for others: without keys and hidden characters, and nothing in it calls people."""
        shown = plain_text(self._client.committing.redact(text), most)
        return quiet_text(shown).replace("<!--", "&lt;!--")

    async def _find_target(self, item: Item) -> Target:
        key = (item.git or item.folder, item.revision)
        if key not in self._targets:
            try:
                self._targets[key] = await asyncio.to_thread(_find_target, item)
            except (GitUnusable, UsageError) as error:
                raise UsageError(f"Item {item.id!r}: {error.text}", error.hint) from error
        return self._targets[key]

    async def _require_published(self, target: Target, commit: str) -> None:
        """Raise UsageError if a push would also send commits that a person has not pushed."""
        if target.top and not await is_published(Path(target.top), target.remote, commit):
            raise UsageError(
                f"The commit {commit[:10]} of {target.top} is not at {target.remote}, and would be pushed, too.",
                "Push it yourself before, or give the item a revision that is there.",
            )


def lacks_request(outcome: Outcome) -> bool:
    """True for what passed and changed something, and has no pull request yet."""
    return outcome.passed and outcome.files > 0 and not outcome.pull_request


def _find_target(item: Item) -> Target:
    """Return where the result of an item goes. Raises UsageError and GitUnusable. Blocks."""
    kind = choose_kind(item)
    address = item.git or item.folder
    if kind not in _KINDS or (kind is PlaceKind.CONTAINER and not item.git):
        raise UsageError(
            f"it works in a place of the kind {kind}, which has no branch for a pull request.",
            "Use the place worktree or clone.",
        )
    if not os.path.isdir(address):
        return Target(check_address(address), item.revision)
    repository = find_repository(Path(address), os.environ)
    branch = ask_git(repository.top, os.environ, "rev-parse", "--symbolic-full-name", "HEAD").strip()
    branch = branch.removeprefix("refs/heads/")
    remote = find_remote(repository, branch)
    url, *_ = find_urls(repository.top, remote)
    known = {one.key: one.value for one in repository.settings}
    follows = known.get(f"branch.{branch}.merge", "") if known.get(f"branch.{branch}.remote") == remote else ""
    base = item.revision or follows.removeprefix("refs/heads/") or branch
    return Target(url, base, os.fspath(repository.top), remote)


def _find_work(target: Target) -> Path:
    """Return the folder in which no program is looked for."""
    return Path(target.top or Path.cwd())


def _name_host(host: CodeHost) -> str:
    return f"{host.host}/{host.path}"


def _read_parent(store: Path) -> str:
    """Return the commit that an item began with. Raises UsageError."""
    try:
        return read_regular(store / "first-commit").decode()
    except FileNotFoundError:
        raise UsageError("its place was not kept, and what it began with went with it.", "Keep them all.") from None


def _read_commit(top: str, revision: str) -> str:
    words = ("rev-parse", "--verify", "--end-of-options", f"{revision or 'HEAD'}^{{commit}}")
    return ask_git(Path(top), os.environ, *words).strip()


def _quote_code(text: str) -> str:
    """Return a text as code in Markdown, on one line."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{line}`"
