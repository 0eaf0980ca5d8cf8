"""`/goal`: set the goal of a task, show it or take it back."""

from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.messages import Text
from halocline.protocol.state.goal import GoalState
from halocline.surfaces.slash.context import SlashAnswer, SlashContext

NONE = "There is no goal. Set one: /goal all tests of the parser pass"
LATER = "It is checked when this turn would end."


async def answer_goal(context: SlashContext, rest: str) -> SlashAnswer:
    client, task = context.client, context.task
    state = client.state(task)
    if not rest or (rest == "off" and not state.goal.is_set):
        return describe_goal(state.goal)
    if rest == "off":
        client.send(cmd.SetGoal(task=task))
        return ""
    client.send(cmd.SetGoal(task=task, text=rest))
    if state.turn is not None:
        return LATER
    client.send(await client.prepared(cmd.SubmitPrompt(task=task, content=(Text(rest),))))
    return ""


def describe_goal(goal: GoalState) -> str:
    """Say which goal a task has, and how far it is."""
    if not goal.is_set:
        return NONE
    last = f", last: {goal.last.gist}" if goal.last and not goal.is_met and goal.last.gist else ""
    how = "met" if goal.is_met else "open"
    return f"Goal: {goal.name}\n{how}, checked {goal.checks} time{'s' * (goal.checks != 1)}{last}"


async def complete_goal(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given or not client.state(task).goal.is_set else {"off": "end it"}
