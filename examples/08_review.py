"""Review a change in CI: reads only, prints findings, and fails if one is grave: python 08_review.py BASE"""

import sys
from dataclasses import dataclass
from typing import Literal

import halocline


@dataclass
class Finding:
    file: str
    line: int
    severity: Literal["minor", "grave"]
    text: str


def main(base: str) -> int:
    done = halocline.run_sync(
        f"Review the change from {base} to HEAD (git diff {base}). Report only what is wrong.",
        result=list[Finding],
        mode="plan",
        max_cost=0.5,
    )
    for one in done.value:
        print(f"::{'error' if one.severity == 'grave' else 'warning'} file={one.file},line={one.line}::{one.text}")
    return any(one.severity == "grave" for one in done.value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else "main"))
