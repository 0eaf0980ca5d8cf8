"""`/rewind`: go back to before an earlier prompt, with or without the files, and rewrite it."""

import time
from collections.abc import Sequence

from halocline.client import PastPrompt
from halocline.protocol import commands as cmd
from halocline.surfaces.figures import format_age
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
    restore = await ask_choice(context.view, "Restore what?", (BOTH, CONVERSATION, FILES))
    if restore is None:
        return UNCHANGED
    request = cmd.GoBack(
        task=context.task, to=chosen.seq - 1, files=restore != CONVERSATION, conversation=restore != FILES
    )
    context.client.send(request)
    went = f"Going back to before “{shorten_prompt(chosen.text)}”."
    return went if restore == FILES else SlashPrompt(chosen.text, f"{went} The prompt is in the composer.")


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
