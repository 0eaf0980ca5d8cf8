import pytest

from halocline.hosts.ripgrep import Ripgrep
from halocline.hosts.shell.shell import LocalShell
from halocline.ports.host import ShellCommand
from halocline.protocol.errors import ToolFailure
from halocline.runtime.assembly.later import build_later, build_search_later, build_shell_later


class Built:
    """Counts how often a part was built."""

    def __init__(self, build):
        self._build = build
        self.times = 0

    def __call__(self):
        self.times += 1
        return self._build()


@pytest.fixture
def built(tmp_path):
    return Built(lambda: LocalShell(tmp_path / "outputs"))


def test_a_part_is_built_once_when_it_is_first_used():
    built = Built(lambda: ["part"])
    part = build_later(built)
    assert built.times == 0
    assert (part.index("part"), part.count("part"), built.times) == (0, 1, 1)


async def test_a_shell_that_runs_nothing_is_not_built(built):
    shell = build_shell_later(built)
    shell.jobs.begin(lambda info: None)
    await shell.jobs.settle()
    assert (shell.jobs.list(), shell.jobs.collect_changes()) == ((), ())
    await shell.close()
    assert built.times == 0


@pytest.mark.process
async def test_the_end_of_a_job_is_told_to_whom_asked_before_the_shell_was_built(built, tmp_path):
    shell, ended = build_shell_later(built), []
    shell.jobs.begin(ended.append)
    result = await shell.run(ShellCommand("sleep 100", str(tmp_path), background=True), lambda text: None)
    assert [job.name for job in shell.jobs.list()] == [result.job]
    await shell.jobs.stop(result.job)
    await shell.close()
    assert ([info.name for info in ended], built.times) == ([result.job], 1)


async def test_a_job_that_does_not_exist_is_refused_by_the_shell_itself(built):
    shell = build_shell_later(built)
    with pytest.raises(ToolFailure):
        await shell.jobs.read("job-1")
    await shell.close()


@pytest.mark.process
async def test_a_search_within_a_scope_is_built_when_it_searches(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    built = Built(Ripgrep)
    search = build_search_later(built).only(Everything())
    assert built.times == 0
    assert await search.files(tmp_path, 10) == (["a.txt"], False)
    assert built.times == 1


class Everything:
    """A scope that hides nothing."""

    hides_names = False

    def refusal(self, place, found=None):
        return ""

    def folder_of(self, place):
        return ""

    def hides(self, place):
        return False

    def is_secret(self, place):
        return False
