"""Markdown of models and agents: tables that can be read, harmless tags, and the text's own direction."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

TABLE = """
| Module | Function | Default | Covered by | Problems | What it does |
| --- | --- | --- | --- | --- | --- |
| `net/retry.py` | backoff | none | tests/test_retry.py | first<br>second | Waits between attempts |
"""
TAGS = """
H<sub>2</sub>O, <kbd>Ctrl</kbd>, <sup onclick="taken()">a</sup>, <b>bold</b>, <script>taken()</script>, <u>open.

שלום עולם
"""
ONE_LINE = """cells => cells.filter((cell) => {
  const range = document.createRange()
  range.selectNodeContents(cell)
  return new Set([...range.getClientRects()].map((box) => Math.round(box.bottom / 6))).size > 1
}).map((cell) => cell.textContent)"""


@pytest.mark.parametrize("width", [320, 390])
async def test_words_of_a_table_stay_whole_on_a_phone_and_the_table_scrolls(width: int, server, opened):
    server.model({"text": TABLE})
    await server.start()
    screen = await opened(width=width, theme="dark")
    await screen.say("Go.")
    await screen.ended()
    words = screen.page.locator(".md :is(th, td)").filter(has_text="none").or_(screen.page.get_by_text("Function"))
    assert await words.evaluate_all(ONE_LINE) == []
    assert await screen.page.locator(".table-box").evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert await screen.page.locator("td br").count() == 1
    assert not await screen.scrolls_sideways()
    assert await screen.barriers() == []


async def test_harmless_tags_are_drawn_without_attributes_and_all_others_are_text(server, opened):
    server.model({"text": TAGS})
    await server.start()
    screen = await opened()
    await screen.say("Go.")
    await screen.ended()
    text = screen.page.locator(".md")
    drawn = await text.evaluate_all(
        "(all) => all.flatMap((one) => [...one.querySelectorAll('*')].map((e) => e.localName))"
    )
    assert [name for name in drawn if name != "p"] == ["sub", "kbd"]
    for source in ('<sup onclick="taken()">', "<b>bold</b>", "<script>", "<u>open"):
        assert source in await text.first.inner_text()
    hebrew = screen.page.get_by_text("שלום")
    assert await hebrew.evaluate("(line) => getComputedStyle(line).direction") == "rtl"


async def test_the_question_above_the_composer_is_drawn_markdown(server, opened):
    question = "Is **thirty seconds** in `net/retry.py` too short?"
    server.model({"call": [call("ask_followup_question", question=question, options=["yes", "no"])]})
    await server.start()
    screen = await opened(width=320)
    await screen.say("Go.")
    dock = screen.page.locator("[data-decides]")
    await dock.locator("code", has_text="net/retry.py").wait_for()
    assert await dock.locator("strong", has_text="thirty seconds").count() == 1
    assert "**" not in await dock.inner_text()
    assert await screen.barriers() == []


NOTES = """
It waits[^1], twice[^why], and `[^a-z]` and [^0-9] are no notes.

Another paragraph[^1].

[^1]: With **jitter**.
[^why]: The server asks for it.

    A second paragraph of the note.

[^1]: <img src=x onerror=taken()>
"""


async def test_footnotes_lead_to_their_notes_and_back_and_what_is_none_stays_text(server, opened):
    server.model({"text": NOTES, "chunk": 7})
    await server.start()
    screen = await opened(width=320, theme="dark")
    await screen.say("Go.")
    await screen.ended()
    text = screen.page.locator(".reply .md")
    assert await text.locator("sup").all_text_contents() == ["1", "why", "1"]
    assert "[^a-z] and [^0-9] are no notes" in await text.inner_text()
    assert await text.locator(".footnote").count() == 3
    assert await text.locator(".footnote img").count() == 0
    await screen.sees("A second paragraph of the note.", ".footnote")
    await text.get_by_role("button", name="Footnote why", exact=True).press("Enter")
    await screen.page.locator("[data-note=why]:focus").wait_for()
    await screen.page.keyboard.press("Enter")
    await screen.page.locator("[data-reference=why]:focus").wait_for()
    assert not await screen.scrolls_sideways()
    assert await screen.barriers() == []


FOLDED = """
> [!WARNING]
> Mind **this**.

<details><summary>More of `it`</summary>

Inside, <script>taken()</script>

- one

</details>

<details>never closed

End.
"""


async def test_notes_and_folds_are_drawn_as_on_a_forge_and_an_open_one_is_text(server, opened):
    server.model({"text": FOLDED})
    await server.start()
    screen = await opened()
    await screen.say("Go.")
    await screen.ended()
    note = screen.page.locator(".md .callout.warning")
    assert (await note.inner_text()).split() == ["Warning", "Mind", "this."]
    fold = screen.page.locator(".md details")
    assert await fold.count() == 1
    assert await fold.get_by_text("Inside").is_hidden()
    await fold.locator("summary").click()
    assert await fold.get_by_text("Inside, <script>taken()</script>").is_visible()
    assert await fold.locator("li").count() == 1
    assert "<details>never closed" in await screen.transcript()
    assert await screen.barriers() == []
    assert await screen.page.evaluate("() => document.documentElement.scrollHeight === innerHeight")


async def test_a_reply_grows_within_its_paragraph_and_breaks_no_word(server, opened):
    text = " ".join(f"antidisestablishmentarianism{number}" for number in range(400))
    server.model({"text": text, "delay": 0.005})
    await server.start()
    screen = await opened()
    await screen.page.evaluate("""() => {
      window.broken = 0
      new MutationObserver(() => {
        for (const tail of document.querySelectorAll('.md .tail'))
          if (tail.parentElement.localName !== 'p' && tail.previousElementSibling?.localName === 'p') window.broken += 1
      }).observe(document.body, { subtree: true, childList: true, characterData: true })
    }""")
    await screen.say("Go.")
    await screen.ended()
    assert text in await screen.transcript()
    assert await screen.page.evaluate("() => window.broken") == 0
