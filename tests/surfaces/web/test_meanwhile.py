"""What a page is told of an edit whose file changes while it waits."""

from typing import Any

import pytest
from tests.surfaces.cli.halo_process import Halo, call
from tests.surfaces.web.page import page, serving

OLD = "".join(f"line {number}\n" for number in range(1, 31))
WANTED = OLD.replace("line 20\n", "line twenty\n")


@pytest.mark.process
@pytest.mark.parametrize(
    ("now", "merged"),
    [
        ("first\n" + OLD, "first\n" + WANTED),
        (OLD.replace("line 20\n", "another 20\n"), None),
    ],
)
async def test_both_are_put_together_where_they_change_other_lines(halo: Halo, now: str, merged: str | None) -> None:
    file = halo.folder / "a.txt"
    file.write_text(OLD)
    read, write = call("read_file", path="a.txt"), call("write_to_file", path="a.txt", content=WANTED)
    model = halo.script({"call": [read]}, {"call": [write]}, {"text": "Good."})
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "go", model=model)
        await one.say("watch", task=task)
        request = (await one.asked(task))["request"]
        same: dict[str, Any] = await one.ask("meanwhile", task=task, request=request)
        file.write_text(now)
        other: dict[str, Any] = await one.ask("meanwhile", task=task, request=request)
        given = {"arguments": other["merged"]} if merged else {}
        decision = {"request": request, "decision": "allow_once", "seen": other["seen"], **given}
        await one.command("resolve_approval", task, **decision)
        await one.ended(task)
    assert (same["changed"], other["changed"], other["whole"]) == (False, True, True)
    assert (other["merged"] or {}).get("content") == merged
    assert file.read_text() == (merged or WANTED)
