from pathlib import Path

import pytest

from halocline.client.tasks import Client, open_client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text
from halocline.runtime.controller import TaskOptions
from halocline.runtime.task_options import Choices

pytestmark = pytest.mark.process


class Place:
    """A home with a scripted model, and a project folder, each with settings that may change."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.work = folder / "home", folder / "work"
        (self.work / ".halocline").mkdir(parents=True)
        self.home.mkdir(mode=0o700)
        self.model = folder / "model.toml"
        self.model.write_text('[[turn]]\ntext = "one"\n' * 9)
        self.mine()
        monkeypatch.setenv("HALOCLINE_HOME", str(self.home))

    def mine(self, text: str = "") -> None:
        lines = f'model = "scripted/{self.model}"\ncheckpoints = false\n{text}\n'
        (self.home / "settings.toml").write_text(lines + "[language_servers]\nenabled = false\n")

    def theirs(self, text: str) -> None:
        (self.work / ".halocline/settings.toml").write_text(text)

    async def start(self, client: Client, **options: object) -> ev.TaskStarted:
        task = await client.start(self.work, TaskOptions(**options))
        return next(event for event in client.past(task) if isinstance(event, ev.TaskStarted))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


@pytest.fixture
async def client(place: Place):
    client = open_client(Choices(), "test")
    yield client
    await client.close()


async def say(client: Client, task: str) -> None:
    sent = client.state(task).seq
    client.send(cmd.SubmitPrompt(task=task, content=(Text("go"),)))
    async for event in client.events(task, sent):
        if isinstance(event, ev.TurnEnded):
            return


async def test_a_task_starts_with_the_folders_stricter_settings_and_says_what_is_not_in_force(place, client) -> None:
    place.mine('approval_mode = "auto"')
    place.theirs('approval_mode = "ask"\nmax_steps = 7\nmax_cost = 3\nmodel = "openai/x"\nhooks = false\n')
    started = await place.start(client)
    assert (started.approval_mode, started.limits.steps, started.limits.cost) == (ApprovalMode.ASK, 7, 3)
    remarks = client.remarks(started.task)
    assert [text.split(" ")[0] for text in remarks] == ["model", "hooks"]


async def test_what_a_person_asks_for_by_flag_wins_over_the_folder(place, client) -> None:
    place.theirs('approval_mode = "ask"\n')
    started = await place.start(client, approval_mode=ApprovalMode.AUTO)
    assert started.approval_mode is ApprovalMode.AUTO


async def test_a_folder_trusted_for_this_run_sets_its_preferences(place, client) -> None:
    place.theirs('language = "German"\n')
    plain, trusted = await place.start(client), await place.start(client, trusted=True)
    assert ("German" in plain.system_prompt, "German" in trusted.system_prompt) == (False, True)


async def test_trust_that_was_given_counts_until_the_file_changes(place, client) -> None:
    place.theirs('language = "German"\n')
    client.hooks_of(place.work).say(trusted=True)
    assert "German" in (await place.start(client)).system_prompt
    place.theirs('language = "French"\n')
    assert "French" not in (await place.start(client)).system_prompt
    assert client.hooks_of(place.work).standing == "changed"


async def test_a_file_that_only_tightens_asks_for_no_trust(place, client) -> None:
    place.theirs("max_steps = 7\n")
    assert client.hooks_of(place.work).standing == "nothing"


async def test_other_folders_keep_the_persons_settings(place, client, tmp_path) -> None:
    place.theirs("max_steps = 7\n")
    await place.start(client)
    elsewhere = await client.start(tmp_path, TaskOptions())
    assert client.state(elsewhere).budget.limits.steps == 200


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "library/.halocline").mkdir(parents=True)
    return tmp_path / "library"


async def test_every_folder_of_a_task_tightens_and_only_the_first_sets_preferences(place, client, library) -> None:
    place.mine('approval_mode = "auto"')
    place.theirs('language = "German"\nmax_steps = 20\n')
    (library / ".halocline/settings.toml").write_text(
        'approval_mode = "ask"\nmax_steps = 7\nlanguage = "French"\nhooks = false\n'
    )
    started = await place.start(client, roots=(str(library),), trusted=True)
    assert (started.approval_mode, started.limits.steps) == (ApprovalMode.ASK, 7)
    assert "German" in client.state(started.task).prompt.system
    remarks = client.remarks(started.task)
    assert [text.split(" ")[0] for text in remarks] == ["language", "hooks"]
    assert all(str(library) in text for text in remarks)


async def test_the_folders_of_a_task_are_read_again_in_an_open_and_in_a_resumed_task(place, client, library) -> None:
    task = (await place.start(client, roots=(str(library),))).task
    (library / ".halocline/settings.toml").write_text("max_steps = 7\n")
    await say(client, task)
    assert client.state(task).budget.limits.steps == 7
    await client.let_go(task)
    (library / ".halocline/settings.toml").write_text("max_steps = 6\n[auto_approve]\nweb = false\n")
    await client.resume(task, TaskOptions())
    assert client.state(task).budget.limits.steps == 6
    book = client._controller.task(task).host.permissions.book()
    assert any("web" in rule.name for rule in book.rules)


async def test_a_change_of_the_persons_file_is_in_force_in_the_next_task(place, client) -> None:
    first = await place.start(client)
    place.mine("max_steps = 9\nmax_failures = 2")
    second = await place.start(client)
    assert (first.limits.steps, second.limits.steps, second.limits.failures) == (200, 9, 2)


async def test_an_open_task_takes_over_changed_limits_with_the_next_prompt(place, client) -> None:
    task = (await place.start(client)).task
    await say(client, task)
    place.mine("max_steps = 9")
    assert client.state(task).budget.limits.steps == 200
    await say(client, task)
    assert client.state(task).budget.limits.steps == 9
    place.theirs("max_steps = 4")
    await say(client, task)
    assert client.state(task).budget.limits.steps == 4


async def test_an_open_task_obeys_changed_approvals_at_once(place, client) -> None:
    task = (await place.start(client)).task
    permissions = client._controller.task(task).host.permissions
    before = len(permissions.book().rules)
    place.mine("[auto_approve]\nedit = false")
    assert len(permissions.book().rules) == before + 1
    place.mine()
    place.theirs("[auto_approve]\nweb = false")
    assert len(permissions.book().rules) == before + 1


async def test_a_file_that_became_invalid_leaves_the_settings_from_before_with_a_notice(place, client) -> None:
    place.mine("max_steps = 9")
    assert (await place.start(client)).limits.steps == 9
    place.mine("max_steps = [")
    started = await place.start(client)
    assert started.limits.steps == 9
    assert any("The settings from before stay in force." in text for text in client.remarks(started.task))
    place.mine("max_steps = 11")
    started = await place.start(client)
    assert (started.limits.steps, client.remarks(started.task)) == (11, ())


async def test_a_folder_tightens_also_while_the_persons_file_is_invalid(place, client) -> None:
    place.mine("max_steps = 9")
    await place.start(client)
    place.mine("max_steps = [")
    place.theirs("max_failures = 1")
    started = await place.start(client)
    assert (started.limits.steps, started.limits.failures) == (9, 1)
    assert any("The settings from before" in text for text in client.remarks(started.task))


async def test_limits_that_change_during_a_task_count_from_the_next_prompt(place, client) -> None:
    task = (await place.start(client)).task
    place.mine('approval_mode = "auto"\nmax_steps = 9\ndouble_check = true\n[compaction]\nat = 0.5\nsummary = false\n')
    await say(client, task)
    limits = client.state(task).budget.limits
    assert limits is not None
    assert (limits.steps, limits.double_check, limits.compacts_at, limits.summarizes) == (9, True, 0.5, False)


def test_a_project_that_requires_a_sandbox_lets_no_program_of_its_tasks_run_outside_one(tmp_path, monkeypatch):
    monkeypatch.setenv("HALOCLINE_HOME", str(tmp_path / "home"))
    free, held = tmp_path / "free", tmp_path / "held"
    (held / ".halocline").mkdir(parents=True)
    free.mkdir()
    (held / ".halocline" / "settings.toml").write_text('sandbox = "require"\n')
    client = open_client(Choices(), "test")
    assert (client.requires_sandbox(str(free)), client.requires_sandbox(str(held))) == (False, True)
