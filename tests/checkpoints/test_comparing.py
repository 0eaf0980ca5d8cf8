from tests.checkpoints.bench import Bench, seen

from halocline.checkpoints.restore import compare

LINES = "".join(f"{number}\n" for number in range(30))


async def test_each_file_that_differs_says_how_and_by_how_many_lines(bench: Bench) -> None:
    for name, text in {"edited": LINES, "old name": LINES * 2, "gone": "x\n", "kind": "file\n"}.items():
        bench.write(name, text)
    bench.write("picture", b"\0\1\2")
    shadow = await bench.begun()
    bench.write("edited", LINES.replace("7\n", "seven\n", 1))
    (bench.workspace / "old name").rename(bench.workspace / "new name")
    (bench.workspace / "gone").unlink()
    (bench.workspace / "kind").unlink()
    (bench.workspace / "kind").symlink_to("edited")
    bench.write("picture", b"\0\3")
    bench.write("made", "diff --git a/x b/x\n")
    await seen(shadow)
    files = {file.path: file for file in (await shadow.compare("1", "2")).files}
    assert {name: (file.kind, file.added, file.removed) for name, file in files.items()} == {
        "edited": ("changed", 1, 1),
        "gone": ("deleted", 0, 1),
        "kind": ("changed", 1, 1),
        "made": ("added", 1, 0),
        "new name": ("renamed", 0, 0),
        "picture": ("changed", None, None),
    }
    assert files["new name"].before == "old name"
    assert "Binary files a/picture and b/picture differ" in files["picture"].diff
    assert files["kind"].diff.count("diff --git ") == 2
    assert "+diff --git a/x b/x" in files["made"].diff


async def test_a_long_diff_is_cut_at_a_line_and_says_how_much_is_left_out(bench: Bench) -> None:
    shadow = await bench.begun()
    bench.write("long", "a line\n" * 40_000)
    bench.write("short", "one\n")
    long, short = (await shadow.compare("1")).files
    assert long.diff.endswith("+a line\n")
    assert 0 < compare.LONGEST - len(long.diff) < 8
    assert long.cut + len(long.diff) > 40_000 * 8
    assert (short.cut, long.added) == (0, 40_000)
