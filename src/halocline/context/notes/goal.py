"""The notes on a goal: at the beginning of a turn, and when a check finds that it is not met."""

from halocline.protocol.messages import Note
from halocline.protocol.state.goal import MOST_STUCK, GoalState

SOURCE = "goal"
_BEGIN_COMMAND = (
    "The user set a goal for this turn: the command `{command}` exits with 0. It runs by itself when you end the turn, "
    "from the task's folder and without the folder and variables that your commands left; while it fails, you get what "
    "it printed and go on. Mend the cause. Do not change what the command checks to make it pass."
)
_BEGIN_TEXT = (
    "The user set a goal for this turn: {text}\nIt counts as met when you report it with attempt_completion and what "
    "happened does not contradict it: check your work after the last edit, with a command where one can tell."
)
_UNMET_COMMAND = "The goal is not met: `{command}` ended with {end}. The end of what it printed:\n{output}\n"
_UNMET_TEXT = "The goal is not met yet: {text}\nWhat is missing: {end}.\n"
_GO_ON = "Go on. If you need the user, ask with ask_followup_question."
_STUCK = (
    "That is the same failure as before, and no file changed since: what you do makes no progress. Look for another "
    "cause, or try something else. If it fails in the same way once more, the turn is stopped."
)
_STOPPED = "That is the same failure as before, and no file changed since. The turn is stopped."
_REFUSED = "The goal cannot be checked: {end} The turn is stopped."


def goal_note(goal: GoalState) -> tuple[Note, ...]:
    """Return the note for a turn that begins with an open goal."""
    if not goal.is_open:
        return ()
    begin = _BEGIN_COMMAND.format(command=goal.command) if goal.command else _BEGIN_TEXT.format(text=goal.text)
    aim = f"\nWhat it is for: {goal.text}" if goal.command and goal.text else ""
    return (Note(begin + aim, SOURCE),)


def unmet_note(goal: GoalState, end: str, output: str, stuck: int) -> Note:
    """Build the note on a check that failed; `stuck` counts it and those before it that failed in the same way."""
    found = _UNMET_COMMAND if goal.command else _UNMET_TEXT
    begin = found.format(command=goal.command, text=goal.text, end=end, output=output or "[no output]")
    return Note(begin + (_STOPPED if stuck >= MOST_STUCK else _STUCK if stuck > 1 else _GO_ON), SOURCE)


def refused_note(end: str) -> Note:
    """Build the note on a check that a rule forbids."""
    return Note(_REFUSED.format(end=end), SOURCE)
