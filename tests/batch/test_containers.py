"""Items in real containers: of docker or podman, where one runs here, with an image that is made of BusyBox alone."""

import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from tests.batch.conftest import play

from halocline.batch.items import PlaceKind
from halocline.batch.places import ENGINES
from halocline.batch.queue import Ending
from halocline.batch.work import Manner
from halocline.client.options import Choices, TaskOptions
from halocline.protocol.kinds import ApprovalMode
from halocline.testing import Call, Turn

pytestmark = [pytest.mark.process, pytest.mark.slow]
IMAGE = "localhost/halocline-test:1"
YOLO = Manner(Choices(unattended=True), TaskOptions(model="scripted/one", approval_mode=ApprovalMode.YOLO))


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An engine that can run a container here; skips the test where there is none."""
    busybox = shutil.which("busybox")
    if not busybox:
        pytest.skip("needs busybox")
    root = tmp_path_factory.mktemp("root")
    for folder in ("bin", "tmp", "etc"):
        (root / folder).mkdir()
    shutil.copy(busybox, root / "bin" / "busybox")
    for name in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if name != "busybox":
            (root / "bin" / name).symlink_to("busybox")
    archive = shutil.make_archive(str(root.with_suffix("")), "tar", root)
    for one in filter(shutil.which, ENGINES):
        if all(run(one, *words) for words in (("import", archive, IMAGE), ("run", "--rm", IMAGE, "/bin/true"))):
            return one
    pytest.skip("no docker and no podman that runs a container")


def run(*words: str) -> bool:
    try:
        return subprocess.run(words, capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def list_containers(engine: str) -> list[str]:
    listed = [engine, "ps", "-a", "--format", "{{.Names}}"]
    return subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()


def name_container(folder: Path) -> str:
    """The container of the item `one` of a bench in a folder."""
    return f"halocline-{sha256(f'{folder}/batches/b/one'.encode()).hexdigest()[:12]}"


async def test_an_item_works_and_is_accepted_in_a_container_that_is_gone_then(engine, bench, item, tmp_path):
    turns = (
        Turn(calls=(Call("execute_command", {"command": "ls /; echo right > b.txt; exit 3"}),)),
        Turn(calls=(Call("read_file", {"path": "b.txt"}),)),
        Turn(calls=(Call("write_to_file", {"path": "new/c.txt", "content": "right\n"}),)),
        Turn("Done."),
    )
    wanted = item(place=PlaceKind.CONTAINER, image=IMAGE, accept="[ ! -e /usr ] && grep right b.txt new/c.txt")
    done = (await bench(model=play(*turns)).run(wanted, manner=YOLO))["one"]
    assert (done.ending, done.accept_output, done.files) == (
        Ending.PASSED,
        "b.txt:right\nnew/c.txt:right\n",
        2,
    )
    assert name_container(tmp_path) not in list_containers(engine)


async def test_an_image_that_is_not_there_ends_the_item_and_leaves_no_container(engine, bench, item, tmp_path):
    done = (await bench().run(item(place=PlaceKind.CONTAINER, image="localhost/halocline-none:1")))["one"]
    assert (done.ending, done.requests) == (Ending.PLACE, 0)
    assert f"{engine} could not start localhost/halocline-none:1" in done.text
    assert name_container(tmp_path) not in list_containers(engine)


async def test_an_engine_whose_service_does_not_run_is_in_no_ones_way(engine, bench, item, tmp_path, monkeypatch):
    if engine == ENGINES[0]:
        pytest.skip("the first engine runs")
    broken = tmp_path / "bin" / ENGINES[0]
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no service >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    done = (await bench().run(item(place=PlaceKind.CONTAINER, image=IMAGE)))["one"]
    assert done.requests
