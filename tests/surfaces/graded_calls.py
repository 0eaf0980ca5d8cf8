"""A command of each grade, and the words that every surface shows for it. All of them make the file `made`."""

from pathlib import Path

from halocline.protocol.permission_rules import Grade

COMMANDS = {
    Grade.ORDINARY: "touch made",
    Grade.OUTSIDE: "touch ../beside made",
    Grade.SECRET: "touch made; cat .env",
    Grade.FINAL: "touch made; rm kept.bin",
}
WORDS = {
    Grade.ORDINARY: "",
    Grade.OUTSIDE: "Reaches outside",
    Grade.SECRET: "A secret may leave",
    Grade.FINAL: "Cannot be undone",
}
NAMED = {Grade.ORDINARY: "made", Grade.OUTSIDE: "beside", Grade.SECRET: ".env", Grade.FINAL: "kept.bin"}
"""The file that a card must name without being opened."""


def fill_folder(folder: Path) -> None:
    """Put there what the commands are about; no checkpoint holds an ignored file."""
    for name, text in ((".gitignore", "*.bin\n"), (".env", "KEY=1\n"), ("kept.bin", "x\n")):
        (folder / name).write_text(text)
