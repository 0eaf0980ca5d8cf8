import sys

import pexpect
import pytest

pytestmark = pytest.mark.process
ENDED_OFTEN = """
import asyncio
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import Layout, Window
from halocline.surfaces.terminal.application.application import LiveApplication

async def main():
    application = LiveApplication(lambda: None)
    application.exit()
    await application.start(Layout(Window()), KeyBindings(), lambda: None, lambda: None)
    application.exit()
    application.exit()
    await application.stop()
    application.exit()
    print("ended")

asyncio.run(main())
"""


def test_an_application_that_a_key_and_a_signal_end_at_once_ends_once():
    with pexpect.spawn(sys.executable, ["-c", ENDED_OFTEN], encoding="utf-8", timeout=40) as terminal:
        terminal.expect("ended")
        terminal.expect(pexpect.EOF)
    assert terminal.exitstatus == 0
