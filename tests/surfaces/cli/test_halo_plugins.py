"""Plug-ins as a person meets them: the list, the question about trust, and a task with one."""

import json

from tests.surfaces.cli.halo_process import Halo, call

from halocline.store.themes import TERMINAL

MANIFEST = 'name = "tidy"\nversion = "1.0"\ndescription = "Sweeps."\nmay = ["reads", "commands"]\npython = "code.py"\n'
CODE = 'import halocline\n\n@halocline.tool(effect="reads")\ndef sweep() -> str:\n    "Sweep."\n    return "swept"\n'


DUSK = "".join(f"{role} = '{style}'\n" for role, style in TERMINAL.styles.items())


def put(top, **texts) -> None:
    for name, text in {"plugin.toml": MANIFEST, "code.py": CODE, **texts}.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


async def said(halo: Halo, *words: str) -> str:
    done = await halo.run("plugins", *words)
    assert (done.code, done.err) == (0, "")
    return done.out


async def test_a_home_without_plugins_says_how_to_install_one(halo: Halo) -> None:
    assert await said(halo, "list") == "No plug-ins. Install one: halo plugins install FOLDER\n"


async def test_a_plugin_is_shown_as_a_whole_and_stays_off_without_a_person(halo: Halo) -> None:
    put(halo.folder / "source", **{"skills/a/SKILL.md": "---\ndescription: b \x1b[31m\n---\nText."})
    shown = await said(halo, "install", "source")
    place = halo.home / "plugins/tidy"
    assert shown.splitlines()[:-2] == [
        f"Installed tidy in {place}.",
        "tidy 1.0  off: it is not trusted: halo plugins trust tidy",
        f"    yours, {place} · adds 1 tool, 1 skill",
        "    Sweeps.",
        "  tool      sweep: reads",
        "  skill     a: b",
        "It reads files and runs commands.",
        "Its code runs inside Halocline, with all that your account may do.",
    ]
    assert shown.splitlines()[-1] == "It stays off until you trust it: halo plugins trust tidy"
    alone = await halo.run("plugins", "trust", "tidy")
    assert (alone.code, alone.err.splitlines()[0]) == (2, "halo: tidy stays off.")
    assert "--yes" in alone.err
    assert "tidy is trusted as it is now." in await said(halo, "trust", "tidy", "--yes")
    assert "tidy is turned off for new tasks." in await said(halo, "disable", "tidy")
    (listed,) = [json.loads(line) for line in (await said(halo, "list", "--json")).splitlines()]
    assert (listed["name"], listed["problem"]) == ("tidy", "it is turned off: halo plugins enable tidy")
    assert "tidy is turned on for new tasks." in await said(halo, "enable", "tidy")
    assert await said(halo, "remove", "tidy") == "Removed tidy.\n"


async def test_a_run_without_a_person_leaves_a_projects_plugins_out_and_says_so(halo: Halo) -> None:
    put(halo.folder / ".halocline/plugins/tidy")
    model = halo.script({"call": [call("sweep")]}, {"text": "done"})
    run = ("run", "-y", "-m", model, "go")
    done = await halo.run(*run)
    assert "so its plug-ins are off (.halocline/plugins/tidy). To enable them: halo trust add" in " ".join(
        done.err.split()
    )
    trusted = await halo.run("trust", "add")
    assert "  plug-in           tidy 1.0, reads files and runs commands" in trusted.out
    done = await halo.run(*run)
    assert "sweep" in done.out
    (halo.folder / ".halocline/plugins/tidy/code.py").write_text("1 / 0")
    again = await halo.run(*run)
    assert "changed since it was trusted" in " ".join(again.err.split())


async def test_doctor_names_a_plugin_that_fails(halo: Halo) -> None:
    put(halo.home / "plugins/tidy", **{"code.py": "1 / 0"})
    await said(halo, "trust", "tidy", "--yes")
    done = await halo.run("doctor")
    text = " ".join(done.out.split())
    assert "The plug-in tidy is left out: its code failed: ZeroDivisionError: division by zero." in text


async def test_themes_that_cannot_be_used_are_told_to_those_who_ask_and_to_no_run(halo: Halo) -> None:
    odd = {f"themes/odd{number}.toml": "accent = 7" for number in range(28)}
    put(halo.home / "plugins/tidy", **odd, **{"themes/dusk.toml": DUSK, "code.py": ""})
    await said(halo, "trust", "tidy", "--yes")
    assert "adds 29 themes (28 cannot be used)" in await said(halo, "list")
    assert "  theme     odd27: cannot be used: it has no quiet, good" in await said(halo, "show", "tidy")
    doctor = " ".join((await halo.run("doctor")).out.split())
    assert "– themes The theme is terminal. The theme tidy:odd0 cannot be used: it has no quiet" in doctor
    for more in ((), ("--output-format", "json"), ("--output-format", "stream-json")):
        done = await halo.run("run", *more, "-m", halo.script({"text": "done"}), "go")
        assert (done.code, "odd0" in done.out + done.err) == (0, False)
    refused = await halo.run("config", "set", "terminal.theme", "tidy:odd0")
    assert (refused.code, "The theme tidy:odd0 cannot be used: it has no quiet" in refused.err) == (2, True)
    await halo.run("config", "set", "terminal.theme", "tidy:dusk")
    assert "✓ themes The theme is tidy:dusk. The theme" not in " ".join((await halo.run("doctor")).out.split())
    await said(halo, "disable", "tidy")
    doctor = " ".join((await halo.run("doctor")).out.split())
    assert "The theme is terminal, as tidy:dusk cannot be used. There is no theme 'tidy:dusk'. The plug-in" in doctor
    assert "it is turned off: halo plugins enable tidy." in doctor
    assert "Reset: halo config unset terminal.theme" in doctor


async def test_a_folder_that_is_no_plugin_is_called_one_without_a_manifest(halo: Halo) -> None:
    (halo.folder / "source").mkdir()
    refused = await halo.run("plugins", "install", "source")
    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "halo: source is no plug-in: the folder has no plugin.toml.",
    )
