"""The lines above and below the composer, from what the session knows."""

from collections.abc import Callable, Sequence

from prompt_toolkit.filters import vi_navigation_mode
from rich.cells import cell_len

from halocline.client.git import read_branch
from halocline.first_frame import MARK
from halocline.protocol.kinds import Mode
from halocline.surfaces.cli.live.composer import LiveComposer
from halocline.surfaces.cli.live.mode_cycle import PLANNING, find_next_step
from halocline.surfaces.cli.live.own_keys import OwnKeys
from halocline.surfaces.cli.live.own_status import OwnStatusLine, read_facts
from halocline.surfaces.cli.live.session import LiveSession
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.queue_lines import list_queue_lines
from halocline.surfaces.terminal.application.activity import LiveActivity
from halocline.surfaces.terminal.application.choice_list import draw_choices
from halocline.surfaces.terminal.application.status_bar import Fact, fit_facts, status_facts
from halocline.surfaces.wrapping import Fragments, cut_line, wrap_line

PROMPT_HINTS: Sequence[str] = (
    "Ask anything · @ files · / commands · ! shell · Shift-Tab: {next} · ? keys",
    "Ask anything · @ files · / commands · ? keys",
    "Ask anything · ? keys",
)
PLAN_HINTS: Sequence[str] = (
    "Plan mode: it reads and plans · Shift-Tab: {next} · ? keys",
    "Plan mode · Shift-Tab: {next}",
)
PLAN_CARD_HINT = "Or type what to change"
QUEUE_HINTS: Sequence[str] = ("Enter queues · Ctrl-S sends now · Esc stops", "Enter queues · Esc stops")
"""Hints in an empty composer, from long to short. `next`: the mode that Shift-Tab goes to."""
BOARD_HINT = " · ← board"
MOST_COMPLETIONS = 8
LABEL_WIDTH = 10
TWO_COLUMNS = 76
"""Columns from which the keys stand in two columns."""
MORE_KEYS = "  … more in a higher window, or: halo docs keys"


class PaneLines:
    """Builds the lines. `unfinished` draws the end of the block that is being written, in so many columns and rows."""

    def __init__(
        self,
        session: LiveSession,
        composer: LiveComposer,
        activity: LiveActivity,
        unfinished: Callable[[int, int], Sequence[Fragments]],
    ) -> None:
        self._session = session
        self._composer = composer
        self._activity = activity
        self._unfinished = unfinished
        self._branch = ""
        self._width = 80
        self.own_keys = OwnKeys()
        self.own_status: OwnStatusLine | None = None

    def look_up_branch(self) -> None:
        """Read the checked-out branch again."""
        state = self._session.state
        self._branch = read_branch(state.workspace) if state else ""

    def above(self, width: int, rows: int) -> list[Fragments]:
        """The unfinished reply, the activity, queued prompts, the card and the label of a line."""
        self._width = width
        labels = self._label_lines(width)[: max(0, rows)]
        fixed = [*self._card_lines(width, rows - len(labels)), *labels]
        queued = self._queue_lines(width)[: max(0, rows - len(fixed))]
        activity = self._activity.lines(width, rows - len(fixed) - len(queued))
        if activity and self._session.is_stopping:
            activity = [[("class:warn", "■ stopping …")]]
        room = rows - len(fixed) - len(queued) - len(activity) - 1
        tail = self._unfinished(width - 1, room) if room > 0 else ()
        return [*(tail or [[("", "")]]), *activity, *queued, *fixed][-rows:] if rows > 0 else []

    def below(self, width: int, rows: int) -> list[Fragments]:
        """Completions or the keys, then the status bar."""
        status = self._status_line(width)
        if (request := self._composer.request) and request.choices:
            return [*request.choices.draw_lines(width, rows - 1), status]
        return [*self._completion_lines(width, rows - 1), *self._key_lines(width, rows - 1), status]

    def mark(self) -> str:
        return "› " if self._composer.request else MARK

    def is_secret(self) -> bool:
        return self._composer.request.hides if self._composer.request else self._composer.is_hidden

    def is_asked(self) -> bool:
        return self._session.card is not None and self._composer.request is None

    def hint(self) -> str:
        """The text of an empty composer."""
        if request := self._composer.request:
            return request.hint
        state = self._session.state
        if self._session.card and self._session.is_prompting:
            return PLAN_CARD_HINT
        if self._session.is_prompting and self._session.offered and not self._session.queue.all:
            return f"{self._session.offered} (Enter sends this)"
        if self._session.has_turn and not self._session.is_prompting:
            stops = "Esc stops your command" if self._session.runs_own_command else "Esc stops"
            hints: Sequence[str] = [hint.replace("Esc stops", stops) for hint in QUEUE_HINTS]
        else:
            hints = PLAN_HINTS if state and state.plan.mode is Mode.PLAN else PROMPT_HINTS
        upcoming = find_next_step(state).name if state else PLANNING
        back = BOARD_HINT if self._session.go_back else ""
        texts = (hint.format(next=upcoming) + back for hint in hints)
        return next((text for text in texts if len(text) <= self._width - 3), "")

    def _queue_lines(self, width: int) -> list[Fragments]:
        lines = [*list_queue_lines(self._session.queue.all), *map(self._describe_due, self._composer.due)]
        return [[("class:quiet", cut_line(line, width - 1))] for line in lines]

    def _describe_due(self, text: str) -> str:
        what = "runs" if text.lstrip().startswith(("/", "!")) else "is sent"
        when = "this turn is done" if self._session.has_turn else "it can"
        return f"❯ {' '.join(clean(text).split())} · {what} when {when}"

    def _card_lines(self, width: int, rows: int) -> list[Fragments]:
        card = self._session.card
        if card is None or self._composer.request or rows < 1:
            return []
        return card.lines(width, rows, has_text=bool(self._composer.text))

    def _label_lines(self, width: int) -> list[Fragments]:
        lines: list[Fragments] = []
        if (request := self._composer.request) and request.label:
            lines.append([("class:accent", cut_line(request.label, width - 1))])
        lines += self._composer.mentions.draw_lines(width - 3)
        if self._session.notice:
            lines += [[("class:warn", line)] for line in wrap_line(self._session.notice, width - 1)]
        return lines

    def _completion_lines(self, width: int, rows: int) -> list[Fragments]:
        state = self._composer.buffer.complete_state
        if state is None or not state.completions:
            return []
        choices = [(choice.display_text, choice.display_meta_text) for choice in state.completions]
        return draw_choices(choices, state.complete_index, width, min(MOST_COMPLETIONS, rows))

    def _key_lines(self, width: int, rows: int) -> list[Fragments]:
        if not self._session.shows_keys:
            return []
        without = "" if self._session.go_back else "go_to_board"
        lines = _draw_keys(self.own_keys.key_lines(without=without), width)
        if len(lines) > rows:
            lines = [*lines[: rows - 1], [("class:quiet", cut_line(MORE_KEYS, width - 1))]]
        return lines[: max(1, rows)]

    def _status_line(self, width: int) -> Fragments:
        state, client = self._session.state, self._session.client
        if state is None or client is None:
            return [("class:quiet", "  starting …")]
        jobs = [job for job in client.jobs(self._session.task) if job.state != "ended"]
        vi_mode = [Fact("NORMAL", weight=8)] if vi_navigation_mode() else []
        if self.own_status:
            known = read_facts(state, branch=self._branch, jobs=len(jobs), waiting=self._session.waiting)
            if own := self.own_status.draw_line(known, self._session.task, state, width - 12):
                return [*fit_facts(vi_mode, width), ("", "  "), *own]
        facts = vi_mode + status_facts(state, branch=self._branch, jobs=len(jobs), waiting=self._session.waiting)
        return fit_facts(facts, width - 1)


def _draw_keys(rows: Sequence[tuple[str, str]], width: int) -> list[Fragments]:
    """The keys with what each does, in two columns where there is room for them."""
    columns = 2 if width >= TWO_COLUMNS else 1
    room, height = (width - 1) // columns, -(-len(rows) // columns)
    drawn: list[Fragments] = [[] for _ in range(height)]
    for at, (keys, text) in enumerate(rows):
        label = cut_line(keys, LABEL_WIDTH)
        label += " " * (LABEL_WIDTH - cell_len(label))
        meaning = cut_line(text, room - LABEL_WIDTH - 4)
        filling = " " * (room - LABEL_WIDTH - 4 - cell_len(meaning)) if at < height else ""
        drawn[at % height] += [("class:accent", f"  {label} "), ("class:quiet", f"{meaning}{filling} ")]
    return drawn
