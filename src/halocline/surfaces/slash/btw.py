"""`/btw`: a side question, which the conversation does not keep."""

from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashMarkdown

USAGE = "Type the question after it: /btw why is this file generated? The conversation does not keep it."


async def answer_btw(context: SlashContext, rest: str) -> SlashAnswer:
    if not rest:
        return USAGE
    answer = ""
    async for text in context.client.ask_aside(context.task, rest):
        answer = text
    return SlashMarkdown(answer)
