import gc
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from pytest_rerunfailures import ClientStatusDB, StatusDB
from tests.samples import choose

pytest.register_assert_rewrite("tests.journeys.soundness")  # before any test imports it

# On a busy machine making examples may be slow; that says nothing about what is tested. Everyday runs look for new
# examples; CI always tries the same ones, so that it judges the change and not the luck of the draw.
settings.register_profile(
    "halocline",
    max_examples=choose(100, 20),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("halocline")

# Python looks through all objects whenever 700 are new; there are millions while tests are collected. As in `halo`:
gc.set_threshold(50_000)

# A suite that was started in the background is told to ignore Ctrl-C, and every program that it starts inherits that;
# those that a test presses Ctrl-C in must hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Have Python look no more through what collecting made: it stays to the end."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let no worker tell which test it runs, in case that makes it crash: it takes 40 ms a test, through a socket."""
    told = getattr(config, "failures_db", None)
    if isinstance(told, ClientStatusDB):
        told.sock.close()
        config.failures_db = StatusDB()  # type: ignore[attr-defined]


LIMIT = pytest.StashKey[Any]()
"""What the plug-in of time limits was told for a test."""


@pytest.hookimpl(trylast=True, wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Iterator[bool]:
    """Have the time limit of a test ring again where the ring was swallowed: in a callback of an event loop, say."""
    item.stash[LIMIT] = settings
    done = yield
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, left, left)
    return done


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """Limit what comes after a failure as well, which the plug-in does not: taking down, and the second try.

    A test that hung twice held a whole run until it was ended from outside.
    """
    if isinstance(node, pytest.Item) and LIMIT in node.stash:
        node.ihook.pytest_timeout_set_timer(item=node, settings=node.stash[LIMIT])


TIERS = [line.split()[0] for line in (Path(__file__).parent / "full.txt").read_text().splitlines() if line[:1] != "#"]
SAMPLES = tuple(line[1:] for line in TIERS if line[0] == "+")
FULL = tuple(line for line in TIERS if line[0] != "+")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules that are left out as a whole need not be read: those of the full tier, and those that need VS Code."""
    name = str(collection_path.relative_to(config.rootpath))
    if "not vscode" in config.option.markexpr and name == "tests/surfaces/vscode":
        return True
    if "not full" not in config.option.markexpr:
        return None
    return (name.startswith(FULL) and not any(sample.startswith(name) for sample in SAMPLES)) or None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:
    """Say something while a busy machine gets ready: silence looks like a run that hangs."""
    reporter = node.config.pluginmanager.getplugin("terminalreporter")
    reporter.write_line(f"{node.gateway.id} has found {len(ids)} tests", flush=True)


COLLECTED = pytest.StashKey[list[str]]()
"""The names of all tests that were found, those that do not run included."""


SECOND_TRY = pytest.mark.flaky(reruns=1, only_rerun=["."])
"""For tests of surfaces, which drive terminals, browsers and programs at a person's pace: what fails runs once more
where a run tries tests again at all, and the summary names it."""


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    config.stash[COLLECTED] = [item.nodeid for item in items]
    for item in items:
        if config.option.reruns and item.nodeid.startswith("tests/surfaces/"):
            item.add_marker(SECOND_TRY)
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.timeout(3600))
        if item.nodeid.startswith(FULL) and not item.nodeid.startswith(SAMPLES):
            item.add_marker(pytest.mark.full)


@pytest.fixture
def halo(tmp_path: Path) -> Iterator[Any]:
    from tests.surfaces.cli.halo_process import Halo  # only who runs `halo` pays for it

    halo = Halo(tmp_path)
    yield halo
    halo.clean_up()
