"""`/rewind`: go back to before an earlier prompt, with or without the files, and rewrite it.

What would happen to the files is shown before the choice, and what happened after it.
"""

import time
from collections.abc import Sequence

from halocline.client.history import PastPrompt, Restored, preview_restore
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events.rewind import brief_target
from halocline.surfaces.figures import format_age
from halocline.surfaces.restore_plan import describe_restored, describe_rewind, name_paths
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashPrompt, ask_choice

LISTED = 8
"""Prompts in a list; one more option shows older ones."""
LONGEST_PROMPT = 60
BOTH, CONVERSATION, FILES = "Conversation and files", "Only the conversation", "Only the files"
OLDER = "Older prompts"
UNCHANGED = "Nothing was changed."


async def answer_rewind(context: SlashContext, rest: str) -> SlashAnswer:
    """Ask for a prompt and for what to restore, then go back to before that prompt. `rest` is a part of its text."""
    prompts = [*reversed(context.client.time.prompts(context.task))]
    found = [prompt for prompt in prompts if rest.casefold() in prompt.text.casefold()]
    if not found:
        return f"No earlier prompt has {rest!r} in it." if prompts else "There is no earlier prompt to go back to."
    chosen = await _choose_prompt(context, found)
    if chosen is None:
        return UNCHANGED
    changes_files = await _show_plan(context, chosen.seq - 1)
    options = (BOTH, CONVERSATION, FILES) if changes_files else (CONVERSATION,)
    restore = await ask_choice(context.view, "Restore what?", options)
    if restore is None:
        return UNCHANGED
    request = cmd.GoBack(
        task=context.task, to=chosen.seq - 1, files=restore != CONVERSATION, conversation=restore != FILES
    )
    went = await _go_back(context, request, f"before “{shorten_prompt(chosen.text)}”.")
    if restore == FILES:
        return "\n".join(went)
    went[0] += " The prompt is in the composer."
    return SlashPrompt(chosen.text, "\n".join(went))


async def _show_plan(context: SlashContext, to: int) -> bool:
    """Show what going back to just after event `to` would do. True if it would change files."""
    client, task = context.client, context.task
    try:
        seen = await preview_restore(client.time, client.past(task), task, to, overwrite=False)
    except HaloclineError as error:
        context.view.say(f"Files stay as they are. {error.text} {error.hint}".strip())
        return False
    context.view.say("\n".join(describe_rewind(seen, "before this prompt")))
    return seen.plan is not None and bool(seen.plan.changes)


async def _go_back(context: SlashContext, request: cmd.GoBack, where: str) -> list[str]:
    """Go back, and say what was restored; of a task that another process runs, its events say that."""
    if context.client.is_attached(context.task):
        context.client.send(request)
        return [f"Going back to {where}"]
    restored = await context.client.time.go_back(request)
    return [f"Went back to {where}", *(describe_put_back(restored, f"{context.task}@{request.to}") if restored else ())]


def describe_put_back(restored: Restored, name: str) -> list[str]:
    """Say what a restore to the checkpoint or point `name` did, in the words of slash commands."""
    lines = describe_restored(
        restored,
        f"/checkpoint restore {brief_target(restored.undo, 10)}",
        f"halo checkpoints restore {name} --overwrite",
    )
    return [*lines, *name_paths("not restored (saved content is damaged)", restored.lost)]


async def _choose_prompt(context: SlashContext, prompts: Sequence[PastPrompt]) -> PastPrompt | None:
    """Ask for one of the prompts, the newest first; None when the person went back."""
    labels = label_prompts(prompts)
    names = [*labels]
    for first in range(0, len(names), LISTED):
        older = (OLDER,) if first + LISTED < len(names) else ()
        question = "Go back to before which prompt?"
        picked = await ask_choice(context.view, question, (*names[first : first + LISTED], *older))
        if picked != OLDER:
            return labels.get(picked or "")
    return None


def label_prompts(prompts: Sequence[PastPrompt]) -> dict[str, PastPrompt]:
    """Return prompts by their labels, which differ also for equal prompts of one minute."""
    labels: dict[str, PastPrompt] = {}
    for prompt in prompts:
        label = describe_prompt(prompt)
        while label in labels:
            label += " (earlier)"
        labels[label] = prompt
    return labels


def describe_prompt(prompt: PastPrompt) -> str:
    gone = "" if prompt.is_current else " · rewound"
    return f"{format_age(prompt.at, time.time())}  {shorten_prompt(prompt.text)}{gone}"


def shorten_prompt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_PROMPT else f"{line[:LONGEST_PROMPT]}…"
