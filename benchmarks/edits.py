"""1,000 blocks on a file of 1 MB, in a process of its own: `python edits.py floor|halocline`.

The floor replaces exact text, one place after the other. Ours is given the same changes as SEARCH/REPLACE blocks, of
which four fifths were written down a little wrong. Both must give the file that was built from line numbers.
"""

import random
import sys
from collections.abc import Sequence

BLOCKS, LINES, STEP, SIZE = 1_000, 21_000, 20, 8


def lines() -> list[str]:
    """Lines that differ from each other, about 1 MB of them."""
    chance = random.Random(4)
    return [f"    value_{i} = compute({chance.randrange(10**9)}, 'x')  # line {i}" for i in range(LINES)]


def changed(line: str) -> str:
    return line.replace("compute", "work_out")


def drifted(text: list[str], kind: int) -> list[str]:
    """The lines as a model might write them. The first two and the last three stay comparable in every kind."""
    match kind:
        case 1:
            return [f"{line} " for line in text]
        case 2:
            return [line.strip() for line in text]
        case 3:
            return [line.replace("'", "’") for line in text]
        case 4:
            return [*text[:2], text[2].replace("value", "walue"), *text[3:]]
        case _:
            return text


def block(text: Sequence[str], number: int) -> str:
    search = drifted(list(text), number % 5)
    replace = [*search[:4], changed(search[4]), *search[5:]]
    return "\n".join(["------- SEARCH", *search, "=======", *replace, "+++++++ REPLACE"])


def by_floor(before: list[str]) -> str:
    text = "\n".join(before)
    for at in range(0, BLOCKS * STEP, STEP):
        old = "\n".join(before[at : at + SIZE])
        new = "\n".join([*before[at : at + 4], changed(before[at + 4]), *before[at + 5 : at + SIZE]])
        text = text.replace(old, new, 1)
    return text


def by_halocline(before: list[str]) -> str:
    from halocline.edits.formats.blocks import parse_blocks
    from halocline.edits.plan import all_or_none
    from halocline.edits.text import TextFile

    diff = "\n".join(block(before[at : at + SIZE], at // STEP) for at in range(0, BLOCKS * STEP, STEP))
    # Curly quotes that a block changes along with its line are what the model asked for.
    return all_or_none(TextFile("\n".join(before)), parse_blocks(diff)).file.text.replace("’", "'").replace(" \n", "\n")


def main() -> int:
    before = lines()
    wanted = before[:]
    for at in range(4, BLOCKS * STEP, STEP):
        wanted[at] = changed(wanted[at])
    got = {"floor": by_floor, "halocline": by_halocline}[sys.argv[1]](before)
    return int(got != "\n".join(wanted))


if __name__ == "__main__":
    sys.exit(main())
