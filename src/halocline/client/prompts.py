"""Slash commands and code actions."""

from halocline.runtime.prompts.code_actions import CODE_ACTIONS as CODE_ACTIONS, make_code_action as make_code_action
from halocline.runtime.prompts.command_files import MCP_PREFIX as MCP_PREFIX, SlashEntry as SlashEntry
from halocline.runtime.prompts.output_schema import read_schema as read_schema
from halocline.runtime.prompts.slash_commands import (
    SLASH_COMMANDS as SLASH_COMMANDS,
    SlashCommand as SlashCommand,
    SlashPlace as SlashPlace,
    split_slash_command as split_slash_command,
)
