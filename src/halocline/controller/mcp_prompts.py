"""A prompt that an MCP server keeps ready: found by `mcp:server:prompt`, filled in with what a person typed."""

from collections.abc import Sequence

from halocline.ports.mcp import Mcp, McpPrompt
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import UserPart


async def prompted(mcp: Mcp | None, command: str, values: Sequence[str]) -> tuple[UserPart, ...]:
    """What the prompt says. Raises UsageError."""
    prompt = _named(mcp, command)
    arguments = _arguments(prompt, values)
    assert mcp is not None
    return await mcp.prompt(prompt.server, prompt.name, arguments)


def _named(mcp: Mcp | None, command: str) -> McpPrompt:
    known = {prompt.command: prompt for prompt in (mcp.prompts() if mcp else ())}
    name = command.removeprefix("/")
    if name in known:
        return known[name]
    hint = (
        f"The prompts are: {', '.join(f'/{each}' for each in known)}." if known else "No MCP server has prompts here."
    )
    raise UsageError(f"There is no prompt /{name}.", hint)


def _arguments(prompt: McpPrompt, values: Sequence[str]) -> dict[str, str]:
    """By position; the last one takes all words that are left."""
    names = [argument.name for argument in prompt.arguments]
    given = list(values)
    if names and len(given) > len(names):
        given[len(names) - 1 :] = [" ".join(given[len(names) - 1 :])]
    arguments = dict(zip(names, given, strict=False))
    if missing := [each.name for each in prompt.arguments if each.required and each.name not in arguments]:
        wanted = " ".join(f"<{name}>" for name in names)
        raise UsageError(f"/{prompt.command} needs {', '.join(missing)}.", f"Write: /{prompt.command} {wanted}")
    return arguments
