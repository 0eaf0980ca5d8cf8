"""Asks about a plan that waits: approve it, and in which mode, or stay in plan mode."""

from halocline.client.tasks import Client
from halocline.protocol.kinds import Mode
from halocline.protocol.plan_approval import APPROVED, find_waiting_plan, list_commands
from halocline.surfaces.terminal.asking.approval_prompt import Asker
from halocline.surfaces.terminal.composing.prompt import Prompt


class PlanPrompt:
    """Asks about each plan until it is answered, and then never again."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._answered = ""

    def is_due(self, client: Client, task: str) -> bool:
        call = find_waiting_plan(client.state(task))
        return bool(call) and call != self._answered

    async def ask(self, client: Client, task: str) -> Prompt | None:
        """Ask, and switch the modes. Returns the prompt that carries the plan out; None to stay in plan mode."""
        call = find_waiting_plan(client.state(task))
        answer = await self._asker.ask_about_plan()
        self._answered = call
        switches = list_commands(client.state(task), answer)
        for switch in switches:
            client.send(switch)
        return Prompt(APPROVED, Mode.ACT) if switches else None
