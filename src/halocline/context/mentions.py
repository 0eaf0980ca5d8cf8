"""What a prompt mentions by `@name` and the model is given along with it; so far `@problems` alone."""

import re
from collections.abc import Sequence

from halocline.protocol.messages import Text, UserPart

_PROBLEMS = re.compile(r"(?<![\w@.])@problems\b")


def mentions_problems(content: Sequence[UserPart]) -> bool:
    """Whether a person asks for the errors that language servers know of."""
    return any(_PROBLEMS.search(part.text) for part in content if isinstance(part, Text))
