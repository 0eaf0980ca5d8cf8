"""`/theme`: the colors of a conversation in the terminal."""

from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.surfaces.slash.config import change_setting, settings_of
from halocline.surfaces.slash.context import IN_USE, SlashAnswer, SlashContext, SlashTheme

SETTING = "terminal.theme"


async def answer_theme(context: SlashContext, rest: str) -> SlashAnswer:
    themes = context.client.themes_of(context.task)
    if not rest:
        names = ", ".join(theme.name for theme in themes.listed())
        said = "\n".join([*themes.describe(), f"To change it: /theme with one of {names}"])
        return SlashTheme(themes.choose()[0], said)
    try:
        theme = themes.find(rest)
    except UsageError as error:
        return f"{error.text} {error.hint}".rstrip()
    change_setting(settings_of(context.client, context.task), SETTING, rest)
    does = f" ({theme.description})" if theme.description else ""
    return SlashTheme(theme, f"Theme: {rest}{does}, here and in later sessions.")


async def complete_theme(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    if given:
        return {}
    themes = client.themes_of(task)
    shown, offered = themes.choose()[0].name, {theme.name: theme.description for theme in themes.listed()}
    offered[shown] = f"{IN_USE} · {offered[shown]}".rstrip(" ·")
    return offered | {theme.name: f"cannot be used: {theme.problem}" for theme in themes.list_broken()}
