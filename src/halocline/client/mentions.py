"""Files, folders and problems that a prompt mentions."""

from halocline.context.user_files.mentions import find_mentions as find_mentions, format_mention as format_mention
from halocline.runtime.mentions.suggestions import (
    WORD_MEANINGS as WORD_MEANINGS,
    Mentionable as Mentionable,
    list_paths_beside as list_paths_beside,
)
