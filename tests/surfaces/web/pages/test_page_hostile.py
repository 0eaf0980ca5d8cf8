"""Whatever a model, a file or a command says is shown as text: nothing of it runs, loads, hides or leads astray."""

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

MARKUP = """\
<script>document.title = 'taken'</script> <img src="http://127.0.0.1:9/steal.png" onerror="document.title='taken'">

<iframe src="http://127.0.0.1:9/"></iframe>

[click me](javascript:document.title='taken') [data](data:text/html,hello) [file](file:///etc/passwd)
![a picture](http://127.0.0.1:9/track.png) [a page](https://example.org/x) <https://example.org/auto>

```html
<script>document.title = 'taken in code'</script>
```

| <b>head</b> | x |
| --- | --- |
| <svg onload="document.title='taken'"> | ` <i>code</i> ` |

pay\u202etxt.exe and zero\u200bwidth &lt;escaped&gt; &amp;lt;
"""


async def test_a_hostile_reply_is_text(server, opened):
    server.model({"text": MARKUP})
    await server.start()
    screen = await opened()
    asked = []
    screen.page.on("request", lambda request: asked.append(request.url))
    await screen.say("<script>document.title = 'mine'</script>")
    await screen.ended()
    log = screen.page.locator(".log-inside")
    assert await log.locator("script, iframe, img, object, embed, form, svg[onload]").count() == 0
    assert [await link.get_attribute("href") for link in await log.locator("a").all()] == [
        "http://127.0.0.1:9/track.png",
        "https://example.org/x",
        "https://example.org/auto",
    ]
    assert {await link.get_attribute("rel") for link in await log.locator("a").all()} == {"noreferrer noopener"}
    assert "taken" not in await screen.page.title()
    assert [url for url in asked if ":9/" in url] == []
    said = await screen.transcript()
    assert "<script>document.title = 'mine'</script>" in said
    assert "<script>document.title = 'taken'</script>" in said
    assert "pay⟨202E⟩txt.exe and zero⟨200B⟩width <escaped> &lt;" in said


async def test_hostile_output_titles_and_paths_are_text(server, opened):
    link = r"\033]8;;http://evil/\007link\033]8;;\007"
    line = rf"printf '\033[31mred\033[0m <b>bold</b> \033]0;title\007 \033[2J{link} \xe2\x80\xae'"
    server.model(
        {"call": [{"tool": "execute_command", "arguments": {"command": line}}]},
        {
            "call": [
                {
                    "tool": "write_to_file",
                    "arguments": {"path": "<img src=x>\u202e.py", "content": "<script>1</script>\n"},
                }
            ]
        },
        {"text": "Done."},
    )
    await server.start()
    screen = await opened()
    await screen.say("Go.")
    await screen.page.locator("[data-decides] :is(.primary, .approves)").click()
    await screen.ended()
    await screen.page.evaluate(
        "async () => { (await import(early.base + 'static/js/state/store.js')).allOpen.value = true }"
    )
    log = screen.page.locator(".log-inside")
    assert await log.locator("script, img, b").count() == 0
    said = await screen.transcript()
    assert "<img src=x>⟨202E⟩.py" in said
    assert "<script>1</script>" in said
    assert "evil" not in await log.locator("a").evaluate_all("links => links.map(link => link.href).join()")
