"""`/theme`: the colors of a conversation in the terminal."""

from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.surfaces.slash.config import change_setting
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashTheme

SETTING = "terminal.theme"
THEMES = {
    "terminal": "the 16 colors of your terminal",
    "color-blind": "blue and yellow in place of green and red",
    "high-contrast": "nothing dim, more that is bold",
    "plain": "no colors",
}


async def answer_theme(context: SlashContext, rest: str) -> SlashAnswer:
    if not rest:
        (now,) = context.client.settings.find(SETTING)
        return f"The theme is {now.value}. To change it: /theme with one of {', '.join(THEMES)}"
    if rest not in THEMES:
        return f"Unknown theme {rest!r}. Use one of: {', '.join(THEMES)}."
    change_setting(context.client.settings, SETTING, rest)
    return SlashTheme(rest, f"Theme: {rest} ({THEMES[rest]}), here and in later sessions.")


async def complete_theme(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else THEMES
