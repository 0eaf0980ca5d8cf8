"""`/theme`: the colors of a conversation in the terminal."""

from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.surfaces.slash.config import change_setting, settings_of
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashTheme

SETTING = "terminal.theme"


async def answer_theme(context: SlashContext, rest: str) -> SlashAnswer:
    themes, settings = context.client.themes_of(context.task), settings_of(context.client, context.task)
    if not rest:
        (now,) = settings.find(SETTING)
        names = ", ".join(theme.name for theme in themes.listed())
        return f"The theme is {now.value}. To change it: /theme with one of {names}"
    try:
        theme = themes.find(rest)
    except UsageError as error:
        return f"{error.text} {error.hint}".rstrip()
    change_setting(settings, SETTING, rest)
    does = f" ({theme.description})" if theme.description else ""
    return SlashTheme(theme, f"Theme: {rest}{does}, here and in later sessions.")


async def complete_theme(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else {theme.name: theme.description for theme in client.themes_of(task).listed()}
