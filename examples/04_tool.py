"""Give the model tools of your own: typed functions with a docstring."""

import asyncio
from pathlib import Path

import halocline

PRICES = {"apple": 0.4, "pear": 0.7}


@halocline.tool(effect="reads")
def price_of(fruit: str) -> float:
    """Return the price of a fruit in euros.

    Args:
        fruit: its name in the singular, in lower case
    """
    if fruit not in PRICES:
        raise halocline.ToolFailure(f"There is no {fruit}. Known: {', '.join(PRICES)}.")
    return PRICES[fruit]


@halocline.tool(effect="edits")
async def add_line(path: Path, line: str, ctx: halocline.ToolContext) -> str:
    """Add a line to a text file of the workspace."""
    ctx.progress(f"adding to {path.name}")
    before = await ctx.read_text(path)
    await ctx.write_text(path, f"{before}{line}\n")
    return f"{path.name} has {before.count(chr(10)) + 1} lines now."


async def main() -> None:
    done = await halocline.run(
        "What does a pear cost? Write it into prices.txt.",
        tools=[price_of, add_line],
        approval_mode="accept-edits",
    )
    print(done.text)


if __name__ == "__main__":
    asyncio.run(main())
