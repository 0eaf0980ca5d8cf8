import os
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# On a busy machine making examples may be slow; that says nothing about what is tested. Everyday runs look for new
# examples; CI always tries the same ones, so that it judges the change and not the luck of the draw.
settings.register_profile(
    "halocline",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("halocline")

# A suite that was started in the background is told to ignore Ctrl-C, and every program that it starts inherits that;
# those that a test presses Ctrl-C in must hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)


TIERS = [line.split()[0] for line in (Path(__file__).parent / "full.txt").read_text().splitlines() if line[:1] != "#"]
SAMPLES = tuple(line[1:] for line in TIERS if line[0] == "+")
FULL = tuple(line for line in TIERS if line[0] != "+")


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(FULL) and not item.nodeid.startswith(SAMPLES):
            item.add_marker(pytest.mark.full)
