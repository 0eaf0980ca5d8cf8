"""Formulas and diagrams of a reply: drawn once they are whole, never more than drawn, and always there as source."""

import asyncio
import re
from urllib.parse import unquote

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PROSE = r"""
From $5 to 10$ or so, US$5, $20/mo vs $30/mo, kill $$ and $$, $HOME/$USER, $FOO_BAR and $BAZ$, ${x}$, pay $x dollars and
$y dollars, $5 = 5 USD$, `$x$`, \$x\$, \[a list\], \(optional\).
"""
FORMULAS = r"""
Euler: $e^{i\pi}+1=0$, $x$, $f(x)$, $O(n \log n)$, **bold $x^2$**, \(a_b\), $$a+b$$ and $2n$.

$$
\int_0^\infty e^{-x^2}\,dx
$$

text:
\[
E=mc^2
\]
"""
HOSTILE = r"""
\(\href{javascript:document.title='taken'}{x}\) \(\includegraphics{http://127.0.0.1:9/a.png}\) \(\class{toasts}{x}\)
\(\style{position:fixed}{x}\) \(\def\a{\a\a}\a\) \(\frac{1}\)

$$x_1\rule{9000em}{9000em}$$
"""
DIAGRAM = """
```mermaid
flowchart LR
  A[Start] --> B{Is it?}
```
"""
HOSTILE_DIAGRAM = """
```mermaid
%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "* { background: url(http://127.0.0.1:9/css) }"} }%%
flowchart LR
  A["<img src=http://127.0.0.1:9/x onerror=parent.postMessage('taken','*')>"] --> B["<script>top.location='http://127.0.0.1:9/'</script>ok"]
  click A "javascript:parent.document.title='taken'"
  click B call taken()
```

```mermaid
flowchart LR
  A[Start --> ]B
```
"""


async def spoken(server, opened, text):
    server.model({"text": text})
    await server.start()
    screen = await opened()
    screen.asked = []
    screen.page.on("request", lambda request: screen.asked.append(request.url))
    await screen.say("Go.")
    await screen.ended()
    return screen


async def test_money_and_variables_stay_words(server, opened):
    screen = await spoken(server, opened, PROSE)
    assert await screen.page.locator(".formula").count() == 0
    assert not any("temml" in url for url in screen.asked)


async def test_a_formula_is_drawn_and_shows_its_source(server, opened):
    screen = await spoken(server, opened, FORMULAS)
    await screen.page.locator(".formula math").nth(9).wait_for()
    assert await screen.page.locator(".formula math").count() == 10
    assert await screen.page.locator(".formula.display math").count() == 3
    await screen.page.get_by_role("button", name="Show formula source").last.press("Enter")
    assert await screen.page.locator(".formula.display .formula-source:visible").inner_text() == "E=mc^2"
    assert await screen.barriers() == []


async def test_a_hostile_formula_is_its_source(server, opened):
    screen = await spoken(server, opened, HOSTILE)
    await screen.page.get_by_text("Cannot render formula").nth(4).wait_for()
    await screen.page.locator(".formula.display math").wait_for()
    assert await screen.page.locator(".log-inside :is(a, img, .toasts)").count() == 0
    assert (await screen.page.locator(".formula.display").bounding_box())["height"] < 700
    assert not await screen.scrolls_sideways()


async def test_a_diagram_is_an_image_drawn_in_a_frame_that_reaches_nothing(server, opened):
    screen = await spoken(server, opened, DIAGRAM + HOSTILE_DIAGRAM)
    heard = "() => { window.heard = []; addEventListener('message', (e) => heard.push(JSON.stringify(e.data))) }"
    await screen.page.evaluate(heard)
    pictures = screen.page.locator("img.diagram-picture")
    await pictures.nth(1).wait_for()
    await screen.sees("Cannot render diagram: Parse error on line 2")
    (frame,) = [frame for frame in screen.page.frames if frame.url.endswith("/diagram")]
    assert await frame.evaluate("origin") == "null"
    drawn = unquote(await pictures.first.get_attribute("src"))
    assert "Is it?" in re.sub("<[^>]*>", "", drawn)
    for picture in await pictures.all():
        assert await picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 50
        assert (await picture.get_attribute("src")).startswith("data:image/svg+xml,")
        svg = unquote(await picture.get_attribute("src"))
        assert not re.search(r"<(img|script|iframe|foreignObject)|\son\w+=|javascript:", svg)
    assert not any("127.0.0.1:9/" in url for url in screen.asked)
    assert "taken" not in await screen.page.title() + "".join(await screen.page.evaluate("heard"))
    screen.problems.clear()  # what the policy of the frame refused is told in the console
    await screen.page.get_by_role("button", name="Show diagram source").first.press("Enter")
    await screen.sees("A[Start] --> B{Is it?}")
    assert await screen.barriers() == []


async def test_all_diagrams_are_drawn_once_by_one_frame_and_follow_the_theme(server, opened):
    many = "".join(f"\n```mermaid\nflowchart LR\n  A{number} --> B\n```\n" for number in range(5))
    screen = await spoken(server, opened, many)
    pictures = screen.page.locator("img.diagram-picture")
    await pictures.nth(4).wait_for()
    light = await pictures.evaluate_all("all => all.map((one) => one.src)")
    await screen.page.emulate_media(color_scheme="dark")
    async with asyncio.timeout(20):
        while set(light) & {*await pictures.evaluate_all("all => all.map((one) => one.src)")}:
            await asyncio.sleep(0.05)
    assert len(set(light)) == await pictures.count() == 5
    assert sum(url.endswith("/diagram") for url in screen.asked) == 1


async def test_the_document_of_a_frame_may_load_and_reach_nothing(server, opened):
    await server.start()
    screen = await opened()
    policy = await screen.page.evaluate("async () => (await fetch('/diagram')).headers.get('content-security-policy')")
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert policy.endswith("sandbox allow-scripts")
