"""Options of one run that override the settings, and those of one task."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Effort
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.store.settings.load import with_overrides
from halocline.store.settings.settings import Settings

if TYPE_CHECKING:
    from halocline.runtime.parts.editor_parts import EditorParts
    from halocline.runtime.parts.program_parts import ProgramParts
else:  # so that the signature of the options can be read, though nothing is loaded
    EditorParts = ProgramParts = object


_RULES = ("allowed_tools", "disallowed_tools", "custom_tools")
_NO_SETTINGS = frozenset({"api_key", "profile", "unattended", "changes", *_RULES})
"""Options that no setting corresponds to."""


class Choices(Value, frozen=True):
    """Options of this run that override the settings; None keeps the setting. `unattended`: no one watches the run.

    `allowed_tools` and `disallowed_tools` become rules (see `rules.tool_patterns`), which may name `custom_tools`, the
    program's own. `changes` is a setting that this run changes, so its value may be invalid before.
    """

    profile: str | None = None
    base_url: str | None = None
    api_key: Secret | None = None
    text_tools: tuple[str, ...] | None = None
    effort: Effort | None = None
    thinking_budget: int | None = None
    max_steps: int | None = None
    max_cost: float | None = None
    token_limit: int | None = None
    time_limit: float | None = None
    connect_timeout: float | None = None
    first_byte_timeout: float | None = None
    stall_timeout: float | None = None
    proxy: str | None = None
    ca_file: str | None = None
    context_window: int | None = None
    system_prompt_file: str | None = None
    append_system_prompt: str | None = None
    hook_folders: tuple[str, ...] | None = None
    unattended: bool | None = None
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] | None = None
    custom_tools: tuple[str, ...] | None = None
    changes: str | None = None

    def over(self, settings: Settings) -> Settings:
        """Return the settings with these options applied."""
        return with_overrides(settings, self.chosen)

    @property
    def chosen(self) -> dict[str, Any]:
        """The settings that these options override, with their values."""
        chosen = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: value for name, value in chosen.items() if name not in _NO_SETTINGS}


class TaskOptions(Value, frozen=True):
    """Options for a task. None means the value of the settings, or that of the resumed task.

    `record` names a new file for a recording; `trusted` lets the folder's hooks run this time. If the process died
    while it waited for a person, the turn asks again and continues with `asks_again`, and ends otherwise. `roots` are
    more folders to work in. An `effort` or `thinking_budget` replaces a resumed task's own. `editor` is what the
    editor that opens the task brings, `program` what the program brings. `until` is the command of its goal.
    """

    model: str | None = None
    mode: Mode | None = None
    approval_mode: ApprovalMode | None = None
    attended: bool = False
    trusted: bool = False
    record: Path | None = None
    asks_again: bool = False
    roots: tuple[str, ...] = ()
    effort: Effort | None = None
    thinking_budget: int | None = None
    editor: "EditorParts | None" = None
    program: "ProgramParts | None" = None
    until: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notices about the task from what the program brings."""
        return self.program.remarks if self.program else ()
