import pytest

from halocline.protocol import codec
from halocline.protocol.errors import LogDamaged, LogTooNew, TaskBusy
from halocline.protocol.events import LogRepaired, ModelChanged, TaskStarted
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.task.log import Log, Tail, read_log
from halocline.task.log_mending import find_damage, mend_log

LAST = 9
BEGINS = TaskStarted(
    workspace="/w", model="m", mode=Mode.ACT, approval_mode=ApprovalMode.ASK, system_prompt="", version="1"
)


@pytest.fixture
def lines(tmp_path):
    log = Log(tmp_path / "t", "t")
    log.append(BEGINS)
    for number in range(2, LAST + 1):
        log.append(ModelChanged(model=f"m{number}"))
    log.close()
    return log.path.read_bytes().splitlines(keepends=True)


@pytest.fixture
def path(tmp_path, lines):
    return tmp_path / "t" / codec.LOG_NAME


def without(lines, at):
    return lines[:at] + lines[at + 1 :]


def doubled(lines, at):
    return lines[: at + 1] + lines[at:]


def swapped(lines, at):
    return [*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]]


def garbled(lines, at):
    return [*lines[:at], b"garbage\n", *lines[at + 1 :]]


def inserted(lines, at):
    return [*lines[:at], b"garbage\n", *lines[at:]]


def contradicted(lines, at):
    return [*lines[: at + 1], lines[at].replace(b'"at":', b'"at":1'), *lines[at + 1 :]]


LOSSLESS = {doubled: "written twice", swapped: "out of order", inserted: "cannot be read"}
LOSING = {without: "missing", garbled: "cannot be read", contradicted: "in two versions"}
EVERY = [*LOSSLESS, *LOSING]
INNER = range(1, LAST - 1)


@pytest.mark.parametrize("at", INNER)
@pytest.mark.parametrize("damage", EVERY)
def test_a_log_that_is_damaged_anywhere_is_read_up_to_there_and_no_further(path, lines, damage, at):
    path.write_bytes(b"".join(damage(lines, at)))
    seen = []
    with pytest.raises(LogDamaged, match=r"The log of task t is damaged: .* intact\."):
        seen.extend(event.seq for event in read_log(path))  # a list that is extended keeps what came before the error
    with pytest.raises(LogDamaged):
        Tail(path).read()
    with pytest.raises(LogDamaged):
        list(read_log(path, after=LAST))


@pytest.mark.parametrize("at", INNER)
@pytest.mark.parametrize("damage", LOSSLESS)
def test_lines_that_are_doubled_swapped_or_strange_cost_nothing(path, lines, damage, at):
    path.write_bytes(b"".join(damage(lines, at)))
    before = path.read_bytes()
    done, aside = mend_log(path)
    assert LOSSLESS[damage] in done.text
    assert f"all {LAST} events are intact" in done.text
    assert path.read_bytes() == b"".join(lines)
    assert aside.read_bytes() == before
    assert find_damage(path) is None


@pytest.mark.parametrize("at", INNER)
@pytest.mark.parametrize("damage", LOSING)
def test_where_an_event_is_lost_the_log_ends_before_it_and_says_so(path, lines, damage, at):
    path.write_bytes(b"".join(damage(lines, at)))
    before = path.read_bytes()
    done, aside = mend_log(path)
    assert LOSING[damage] in done.text
    assert f"events 1 to {at} are intact" in done.text
    *kept, repaired = read_log(path)
    assert [codec.encode(event) + b"\n" for event in kept] == lines[:at]
    assert repaired == LogRepaired(
        bytes_cut=len(before) - sum(map(len, lines[:at])), put_aside=aside.name, seq=at + 1, at=repaired.at, task="t"
    )
    assert aside.read_bytes() == before
    assert find_damage(path) is None


def test_a_second_damage_is_put_aside_beside_the_first(path, lines):
    for number in (1, 2):
        path.write_bytes(b"".join(doubled(lines, 3)))
        assert mend_log(path)[1].name == f"damaged-{number}.jsonl"


def test_a_torn_last_line_is_no_damage(path):
    with open(path, "ab") as file:
        file.write(b'{"type":"mode_ch')
    assert find_damage(path) is None


@pytest.mark.parametrize("damage", [without, garbled])
def test_a_log_without_its_beginning_is_left_alone(path, lines, damage):
    path.write_bytes(before := b"".join(damage(lines, 0)))
    assert "its beginning is missing" in find_damage(path).text
    assert mend_log(path) is None
    assert path.read_bytes() == before
    assert not list(path.parent.glob("damaged-*"))


def test_a_whole_log_is_not_touched(path):
    before = path.stat()
    assert mend_log(path) is None
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_log_of_a_newer_version_is_left_alone(path, lines):
    path.write_bytes(before := lines[0].replace(b'"version"', b'"format":2,"version"') + lines[2])
    with pytest.raises(LogTooNew):
        mend_log(path)
    assert path.read_bytes() == before


def test_a_log_that_is_being_written_is_not_mended(path, lines):
    path.write_bytes(before := b"".join(doubled(lines, 3)))
    log = Log(path.parent, "t")
    with pytest.raises(TaskBusy):
        mend_log(path)
    log.close()
    assert path.read_bytes() == before
