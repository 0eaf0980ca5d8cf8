"""`halo web --install`: a systemd service of the user, which runs `halo web` from login on, and without it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from halocline.client.background import (
    OWN_PROGRAM,
    escape_text,
    list_environment,
    quote_command,
    run_systemctl,
    unit_folder,
)
from halocline.protocol.errors import UsageError

NAME = "halocline-web.service"


def install_service(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Path:
    """Write the service's file and start it; return the file. `words` are the arguments of `halo web`.

    Raises UsageError if systemd does not start it; the file stays.
    """
    file = unit_folder(environment) / NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(write_unit(words, folder, environment))
    for command in (("daemon-reload",), ("enable", NAME), ("restart", NAME)):
        run_systemctl(f"The service's file is {file}.", *command)
    return file


def remove_service(environment: Mapping[str, str]) -> Path:
    """Stop the service and remove its file. Raises UsageError if there is none."""
    file = unit_folder(environment) / NAME
    if not file.is_file():
        raise UsageError("The service is not installed.", "Install it with: halo web --install")
    run_systemctl(f"The service's file is {file}.", "disable", "--now", NAME)
    file.unlink()
    run_systemctl("", "daemon-reload")
    return file


def write_unit(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Return the text of the service's file. Raises UsageError for what systemd cannot hold."""
    return "\n".join(
        (
            "[Unit]",
            "Description=Halocline in the browser",
            "",
            "[Service]",
            f"ExecStart={quote_command((*OWN_PROGRAM, 'web', '--no-open', *words))}",
            f"WorkingDirectory={escape_text(str(folder))}",
            *list_environment(environment),
            "Restart=on-failure",
            "KillSignal=SIGINT",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        )
    )
