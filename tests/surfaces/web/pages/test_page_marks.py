"""Mentions and slash commands are marked, in the field where they are typed and in what was said."""

import pytest
from tests.hosts.chromium import needs_chromium

from halocline.context.user_files.mentions import find_mentions

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

TEXTS = (
    "Look at @src/a.py, and @./b.py: also (@c/d.py). Then @../x/..?",
    'Both @"my file.txt":3-9 and @lib/x.py:12 count',
    "write to me@example.org or x@y.z, not \\@src/a.py",
    "`@in/code.py` and ``@in/`code.py`` then @out/a.py",
    "```\n@in/fence.py\n```\n@after/fence.py",
    "see @https://example.org/a_(b)), @problems. @terminal! @git-changes @task:261121-1 @symbol:Foo.bar",
    "@a/b[1].py] and @weird\\ name/x.py *@c/d.py*",
)
MARKS = """async (texts) => {
  const { splitPieces } = await import(early.base + 'static/js/composer/find-marks.js')
  return texts.map((text) => splitPieces(text).filter(({ kind }) => kind === 'mention').map((one) => one.text))
}"""
LINES = """() => {
  const field = document.querySelector('.composer textarea')
  const behind = document.querySelector('.behind')
  return { wide: behind.clientWidth - field.clientWidth, high: behind.scrollHeight - field.scrollHeight,
    moved: behind.scrollTop - field.scrollTop }
}"""


async def test_what_is_marked_is_what_is_mentioned(server, opened):
    await server.start()
    screen = await opened()
    marked = await screen.page.evaluate(MARKS, list(TEXTS))
    assert marked == [[mention.text for mention in find_mentions(text)] for text in TEXTS]


async def test_marks_lie_behind_the_words_that_are_written(server, opened):
    server.model({"text": "Yes."})
    await server.start()
    screen = await opened(width=390)
    await screen.composer.fill("/deploy @src/a.py me@example.org @property " + "and some words @b/c.py\n" * 30)
    behind = screen.page.locator(".behind mark")
    await behind.nth(31).wait_for(state="attached")
    assert await behind.evaluate_all("all => all.slice(0, 3).map((one) => one.textContent)") == [
        "/deploy",
        "@src/a.py",
        "@b/c.py",
    ]
    for top in (0, 100, 10_000):
        await screen.composer.evaluate("(box, top) => { box.scrollTop = top }", top)
        await screen.page.wait_for_timeout(50)
        gap = await screen.page.evaluate(LINES)
        assert (gap["wide"], gap["moved"]) == (0, 0)
        assert abs(gap["high"]) <= 1
    await screen.composer.fill("Look at @src/a.py and `@b/c.py`, @property")
    await screen.composer.press("Enter")
    await screen.ended()
    assert await screen.page.locator(".prompt-text .marked").all_inner_texts() == ["@src/a.py"]
    assert await screen.barriers() == []
