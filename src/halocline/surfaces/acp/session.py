"""One ACP session: a task, the pump that sends its events, and the prompts that wait for the end of their turns."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from pathlib import Path

from acp import RequestError, schema
from acp.interfaces import Client as Editor
from msgspec.structs import replace

from halocline.client import Client, OfferedModel, SlashPlace, TaskOptions, batch_events, format_handover
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.messages import StopReason, Text, UserPart
from halocline.surfaces.acp import options, permissions
from halocline.surfaces.acp.updates import Updates, make_message
from halocline.surfaces.sanitize import reveal

_STOPS: dict[StopReason, schema.StopReason] = {
    StopReason.END_TURN: "end_turn",
    StopReason.MAX_TOKENS: "max_tokens",
    StopReason.MAX_TURN_REQUESTS: "max_turn_requests",
    StopReason.REFUSAL: "refusal",
    StopReason.CANCELLED: "cancelled",
}
_OPTION_CHANGES = (ev.ModeChanged, ev.PolicyChanged, ev.ModelChanged, ev.EffortChanged)
_LOGGER = logging.getLogger(__name__)


class Session:
    """A session of one editor. `name` is the session's id: the id of its first task, also after a hand-over."""

    def __init__(self, client: Client, editor: Editor, name: str, opening: TaskOptions) -> None:
        self._client = client
        self._editor = editor
        self._opening = opening
        self.name = name
        self.task = name
        self._updates = Updates(client.state(name).workspace)
        self._turns: asyncio.Queue[schema.PromptResponse | RequestError] = asyncio.Queue()
        """Ends of turns, for the prompt that waits."""
        self._prompting = asyncio.Lock()
        self._question: ev.QuestionAsked | None = None
        """A question that the next prompt answers."""
        self._asking: dict[str, asyncio.Task[None]] = {}
        """What is sent to the person or awaited from them, by request."""
        self._failure = ""
        self._successor: ev.HandedOver | None = None
        self._models: list[OfferedModel] | None = None
        """The models on offer. They are asked for once: a local server that does not answer must not hold up events."""
        self._ask_what_waits()
        self._pump = asyncio.create_task(self._send_events(client.state(name).seq), name=f"ACP session {name}")

    @property
    def workspace(self) -> Path:
        """The folder of the task."""
        return Path(self._client.state(self.task).workspace)

    async def prompt(self, content: tuple[UserPart, ...]) -> schema.PromptResponse:
        """Start a turn, or answer the pending question, and wait for the end. Raises RequestError and UsageError."""
        if self._prompting.locked():
            raise RequestError.invalid_request({"details": "A prompt is already running. Cancel it, or wait."})
        async with self._prompting:
            while not self._turns.empty():
                self._turns.get_nowait()  # ends of turns that another client started
            if question := self._question:
                self._question = None
                answer = "\n".join(part.text for part in content if isinstance(part, Text))
                self._send(cmd.AnswerQuestion(task=self.task, request=question.request, answer=answer))
            else:
                submit = cmd.SubmitPrompt(task=self.task, content=content)
                self._send(await self._client.prepared(submit))
            return await self._wait_for_end()

    async def _wait_for_end(self) -> schema.PromptResponse:
        """Wait for the end of the turn. Raises RequestError if it failed, or if nothing will be sent any more."""
        ended = asyncio.ensure_future(self._turns.get())
        try:
            await asyncio.wait({ended, self._pump}, return_when=asyncio.FIRST_COMPLETED)
            if self._pump.done() and not ended.done():
                raise self._pump.result()
            found = ended.result()
        finally:
            ended.cancel()
        if isinstance(found, RequestError):
            raise found
        return found

    def cancel(self) -> None:
        """End the running turn."""
        self._question = None
        self._send(cmd.Interrupt(task=self.task))

    def set_mode(self, mode: str) -> None:
        """Switch the mode. Raises RequestError for an unknown one."""
        try:
            commands = options.list_mode_commands(self.task, mode)
        except KeyError:
            raise RequestError.invalid_params({"details": f"There is no mode {mode!r}."}) from None
        for command in commands:
            self._send(command)

    async def set_option(self, name: str, value: str | bool) -> None:
        """Change one option. Raises RequestError and UsageError."""
        match name:
            case options.MODE:
                self.set_mode(str(value))
            case options.MODEL:
                await self._client.change_model(self.task, str(value))
            case options.EFFORT:
                try:
                    self._send(options.make_effort_command(self.task, str(value)))
                except ValueError:
                    raise RequestError.invalid_params({"details": f"There is no effort {value!r}."}) from None
            case _:
                raise RequestError.invalid_params({"details": f"There is no option {name!r}."})

    def modes(self) -> schema.SessionModeState:
        """Return the modes, with the current one."""
        return options.list_modes(self._mode())

    async def config_options(self) -> list[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean]:
        """Return all options with their values."""
        state = self._client.state(self.task)
        if self._models is None:
            self._models = [one for one in await self._client.models.list_models() if one.usable]
        efforts = self._client.models.efforts(state.model.name, state.plan.mode)
        return options.list_config_options(self._mode(), state.model.name, self._models, state.model.effort, efforts)

    def announce(self) -> None:
        """Send the slash commands once the answer that names the session is on its way: it goes first."""
        self._asking["commands"] = asyncio.create_task(self._send_commands())

    async def close(self) -> None:
        """End the session: its turn ends, its task is closed, and deleted if nothing was ever asked."""
        for asking in [*self._asking.values(), self._pump]:
            asking.cancel()
        await asyncio.gather(self._pump, *self._asking.values(), return_exceptions=True)
        if not self._client.is_open(self.task):
            return
        is_empty = self._client.state(self.task).is_empty and not self._client.is_attached(self.task)
        with suppress(HaloclineError):
            await self._client.let_go(self.task)
            if is_empty:
                self._client.tasks.forget(self.task)

    def _mode(self) -> str:
        state = self._client.state(self.task)
        return options.to_mode(state.plan.mode, state.permissions.approval_mode)

    def _send(self, command: cmd.AnyCommand) -> None:
        self._client.send(command)

    async def _send_events(self, after: int) -> RequestError:
        """Send what happens as updates, until the session ends. Returns the error that prompts get from then on."""
        try:
            while await self._follow(after):
                after = 0
        except (HaloclineError, ConnectionError) as error:
            return RequestError.internal_error({"details": str(error)})
        except Exception as error:
            _LOGGER.exception("The events of session %s could not be sent.", self.name)
            return RequestError.internal_error({"details": f"{type(error).__name__}: {error}"})
        return RequestError.internal_error({"details": "The task ended. Load it to continue."})

    async def _follow(self, after: int) -> bool:
        """Follow one task, in batches: a command may print faster than an editor draws. True if another takes over."""
        async with aclosing(batch_events(self._client.previewed(self.task, after))) as batches:
            async for batch, _ in batches:
                for event in batch:
                    await self._pass_on(event)
                    if isinstance(event, ev.TurnEnded) and (handed := self._successor):
                        await self._continue_in(handed)
                        return True
        return False

    async def _pass_on(self, event: ev.Event) -> None:
        """Send what an event means to the editor, and ask the person what it asks."""
        for update in self._updates.of(event):
            await self._editor.session_update(self.name, update)
        match event:
            case ev.ApprovalRequested():
                self._ask(event.request, self._decide(event))
            case ev.QuestionAsked():
                self._ask(event.request, self._answer(event))
            case ev.ApprovalResolved(request=request) | ev.QuestionAnswered(request=request):
                self._stop_asking(request)
            case ev.ErrorRaised():
                self._failure = f"{event.text} {event.hint}".rstrip()
            case ev.HandedOver():
                self._successor = event
            case ev.TurnEnded() if not self._successor:
                self._end_turn(event)
            case _ if isinstance(event, _OPTION_CHANGES):
                await self._send_options()

    def _end_turn(self, event: ev.TurnEnded) -> None:
        self._question = None
        failure, self._failure = self._failure, ""
        if event.reason is StopReason.ERROR:
            details = failure or event.text or "The turn failed."
            self._turns.put_nowait(RequestError(-32603, details, {"details": details}))
        else:
            self._turns.put_nowait(schema.PromptResponse(stop_reason=_STOPS[event.reason]))

    async def _continue_in(self, event: ev.HandedOver) -> None:
        """Start the task that continues this one's work, in the same session."""
        self._successor = None
        old, state = self.task, self._client.state(self.task)
        now = replace(self._opening, model=self._client.only_model(old) or None, mode=state.plan.mode)
        now = replace(now, approval_mode=state.permissions.approval_mode, roots=state.roots)
        self.task = await self._client.start(Path(state.workspace), now, event.to)
        await self._client.let_go(old)
        self._send(cmd.SubmitPrompt(task=self.task, content=(Text(format_handover(event)),), verbatim=True))

    async def _send_commands(self) -> None:
        commands = [
            schema.AvailableCommand(
                name=entry.name,
                description=entry.about,
                input=schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=entry.rest))
                if entry.rest
                else None,
            )
            for entry in self._client.words(self.workspace).listed(SlashPlace.RUN)
        ]
        update = schema.AvailableCommandsUpdate(available_commands=commands, session_update="available_commands_update")
        await self._editor.session_update(self.name, update)

    async def _send_options(self) -> None:
        mode = schema.CurrentModeUpdate(current_mode_id=self._mode(), session_update="current_mode_update")
        await self._editor.session_update(self.name, mode)
        changed = schema.ConfigOptionUpdate(
            config_options=await self.config_options(), session_update="config_option_update"
        )
        await self._editor.session_update(self.name, changed)

    # Requests to the person.

    def _ask_what_waits(self) -> None:
        """Ask for what a task that was already open waits for."""
        pending = self._client.state(self.task).pending
        for approval in pending.approvals:
            self._ask(approval.request, self._decide(approval))
        for question in pending.questions:
            self._ask(question.request, self._answer(question))

    def _ask(self, request: str, asking: Coroutine[None, None, None]) -> None:
        self._asking[request] = asyncio.create_task(asking)

    def _stop_asking(self, request: str) -> None:
        """Stop waiting for an answer that came another way."""
        if self._question and self._question.request == request:
            self._question = None
        if (asking := self._asking.pop(request, None)) and asking is not asyncio.current_task():
            asking.cancel()

    async def _decide(self, event: ev.ApprovalRequested) -> None:
        """Ask for a decision. An editor that cannot ask, or that answers nonsense, rejects the call."""
        call = schema.ToolCallUpdate(tool_call_id=event.call, title=reveal(event.title))
        option = ""
        try:
            found = await self._editor.request_permission(self.name, call, permissions.list_options(event))
            if isinstance(found.outcome, schema.DeniedOutcome):
                self.cancel()
                return
            option = found.outcome.option_id
        except (RequestError, ValueError) as error:
            _LOGGER.warning("The editor did not decide on %s: %s", event.request, error)
        self._send(permissions.make_decision(self.task, event, option))

    async def _answer(self, event: ev.QuestionAsked) -> None:
        """Offer the answers of a question; without any, or to type one, the turn of the protocol ends with it."""
        if event.options:
            call = schema.ToolCallUpdate(tool_call_id=event.call or event.request, title=reveal(event.question))
            try:
                found = await self._editor.request_permission(self.name, call, permissions.list_answers(event))
            except (RequestError, ValueError) as error:
                _LOGGER.warning("The editor did not answer %s: %s", event.request, error)
            else:
                if isinstance(found.outcome, schema.DeniedOutcome):
                    self.cancel()
                    return
                if (answer := permissions.read_answer(event, found.outcome.option_id)) is not None:
                    self._send(cmd.AnswerQuestion(task=self.task, request=event.request, answer=answer))
                    return
        lines = [f"\n\n{reveal(event.question)}", *(f"- {reveal(option)}" for option in event.options)]
        await self._editor.session_update(self.name, make_message("\n".join(lines)))
        self._question = event
        self._turns.put_nowait(schema.PromptResponse(stop_reason="end_turn"))
