"""The traces of a task on its host: shell, browser page and sandbox, background jobs and the person's commands."""

from msgspec.structs import replace

from halocline.protocol.events.host import SandboxChecked, ShellMoved
from halocline.protocol.events.jobs import JobEnded, JobStarted
from halocline.protocol.events.user_commands import OwnCommandEnded, OwnCommandStarted
from halocline.protocol.values import Value


class HostState(Value, frozen=True):
    """The shell's place, the URL of the browser's page, and the sandbox as last tested."""

    shell: ShellMoved = ShellMoved()
    page: str = ""
    sandbox: SandboxChecked = SandboxChecked()


class JobsState(Value, frozen=True):
    """Running background jobs, the number ever started, and those that ended between turns and were not reported."""

    running: tuple[JobStarted, ...] = ()
    started: int = 0
    ended_apart: tuple[JobEnded, ...] = ()

    def after_start(self, event: JobStarted) -> "JobsState":
        return replace(self, running=(*self.running, event), started=self.started + 1)

    def after_end(self, event: JobEnded, *, in_turn: bool) -> "JobsState":
        """Remove the job. Between turns, its end is reported with the next one."""
        left = tuple(job for job in self.running if job.job != event.job)
        return replace(self, running=left, ended_apart=self.ended_apart if in_turn else (*self.ended_apart, event))


class UserCommandsState(Value, frozen=True):
    """The person's running commands, the number ever started, and those that ended and the model has not seen."""

    running: tuple[OwnCommandStarted, ...] = ()
    started: int = 0
    unreported: tuple[OwnCommandEnded, ...] = ()

    def after_start(self, event: OwnCommandStarted) -> "UserCommandsState":
        return replace(self, running=(*self.running, event), started=self.started + 1)

    def after_end(self, event: OwnCommandEnded) -> "UserCommandsState":
        left = tuple(command for command in self.running if command.run != event.run)
        return replace(self, running=left, unreported=(*self.unreported, event))
