"""`halo`: the command. `--version` is answered before anything else is imported."""

import gc
import os
import sys

from halocline._version import __version__
from halocline.first_frame import FirstFrame

GARBAGE = 60_000, 20
"""How many new objects a look for cycles waits for, and how many such looks one at older objects waits for.

That is more than a start makes (30,000), of which Python's usual 700 cost a tenth, and few enough that no look takes
20 ms, for which all tasks of the process would wait.
"""


def main() -> int:
    """Run the command line and give its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"halo {__version__}")
        return 0
    frame = FirstFrame()
    frame.draw(sys.argv[1:])
    gc.set_threshold(*GARBAGE)
    _skip_folder_of_script()
    _import_msgspec()
    try:
        from halocline.surfaces.cli.main import run_main as cli

        code = cli(sys.argv[1:], frame)
    except KeyboardInterrupt:  # before there was anything to interrupt
        code = 130
    # What is left goes with the process; without this, its end would look through all of it three times for cycles.
    gc.freeze()
    if event_loop := sys.modules.get("halocline.surfaces.event_loop"):
        event_loop.leave_at_once(code)
    return code


def _skip_folder_of_script() -> None:
    """Import nothing from the folder with the programs: each import would look there first."""
    if sys.path[:1] == [os.path.dirname(sys.argv[0])]:
        del sys.path[0]


def _import_msgspec() -> None:
    """Import msgspec without what it does not need, which would take a third of its time.

    Of what it takes from typing_extensions, Python has the same since 3.11. `uuid`, which it loads, asks the module
    platform for the system's name, before Python 3.12.
    """
    from types import SimpleNamespace

    modules = vars(sys)["modules"]
    instead = {"typing_extensions": None, "platform": SimpleNamespace(system=lambda: os.uname().sysname)}
    instead = {name: module for name, module in instead.items() if name not in modules}
    modules.update(instead)
    __import__("msgspec")
    for name in instead:
        del modules[name]


if __name__ == "__main__":
    sys.exit(main())
