"""Your own text for the system prompt: `prompts/<section>.md` in Halocline's home, and files named in settings."""

from pathlib import Path

from halocline.context.system_prompt.build import SECTIONS, PromptOptions
from halocline.files.regular import read_regular
from halocline.protocol.errors import SettingsError

LARGEST = 200_000
"""Maximum characters of one file: more is surely a mistake, and would be paid for with every request."""


def read_prompt_options(root: Path, *, whole: str, added: str, language: str) -> PromptOptions:
    """Read the options; `whole` is a file, `added` a text, or `@` and a file. Relative paths start at the home, `root`.

    Raises:
        SettingsError: a file is missing, too long, not text, or not named after a section.
    """
    return PromptOptions(
        sections=_read_sections(root / "prompts"),
        whole=_read_text(root / Path(whole).expanduser()) if whole else None,
        added=_read_text(root / Path(added[1:]).expanduser()) if added.startswith("@") else added,
        language=language,
    )


def _read_sections(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    files = [path for path in sorted(folder.iterdir()) if path.suffix == ".md"]
    for path in files:
        if path.stem not in SECTIONS:
            known = ", ".join(SECTIONS)
            raise SettingsError(
                f"{path}: the system prompt has no section {path.stem!r}.", f"Rename the file to a section: {known}."
            )
    return {path.stem: _read_text(path) for path in files}


def _read_text(path: Path) -> str:
    try:
        text = read_regular(path, 4 * LARGEST).decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(
            f"Cannot read {path} for the system prompt: {why}.", "Fix the file, or name another one in the settings."
        ) from error
    if len(text) > LARGEST:
        raise SettingsError(
            f"{path} is too long for a system prompt: {len(text):,} characters.",
            f"Shorten it to {LARGEST:,} characters.",
        )
    return text
