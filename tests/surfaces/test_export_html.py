from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice, Diff, Mode, Todo, TodoStatus, ToolKind
from halocline.protocol.messages import StopReason
from halocline.protocol.state.evidence.findings import Evidence
from halocline.surfaces.export.html import to_html
from halocline.surfaces.rows import kinds as r

VOID = {"meta", "br", "hr"}


class Page(HTMLParser):
    """What a browser would make of it. Fails where tags do not close each other."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def page(*rows: r.Row, title: str = "Task") -> Page:
    return Page(to_html(rows, title, ["about"]))


def every_row(text: str) -> list[r.Row]:
    approval = r.Approval("r", text, decision=Choice.ALLOW_ONCE, by="user", note=text)
    call = r.CallRow("c", text, text, ToolKind.EDIT, CallStatus.FAILED, output=text, approval=approval, seconds=1.0)
    edit = r.CallRow("d", "edit", text, ToolKind.EDIT, CallStatus.COMPLETED, diffs=(Diff("a", f"@@\n-{text}\n+y"),))
    return [
        r.StartRow(text, text, Mode.ACT, ApprovalMode.ASK),
        r.PromptRow(text, 2),
        r.ThoughtRow(text),
        r.ReplyRow(text),
        call,
        edit,
        r.QuestionRow("q", text, (text,), answer=text, by="user"),
        r.TodosRow((Todo(text, TodoStatus.PENDING),)),
        r.CheckpointRow(text, text),
        r.RestoredRow(text, text),
        r.RetryRow(1, 1.0, text),
        r.JobEndRow(text, text),
        r.NoticeRow(text),
        r.ErrorRow("code", text, text),
        r.TurnEndRow(StopReason.END_TURN),
    ]


@given(st.text(alphabet="<>&\"'`[]()!#*_|\n\\ a:/=-", max_size=40))
def test_whatever_is_said_the_page_keeps_its_form_and_runs_and_loads_nothing(text: str) -> None:
    made = page(*every_row(text), title=text)
    tags = {tag for tag, _ in made.tags}
    assert not tags & {"script", "img", "iframe", "link", "object", "base", "form", "svg", "video"}
    assert not [name for _, attrs in made.tags for name in attrs if name.startswith("on")]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</pre></details>&amp;"])
def test_markup_is_shown_as_it_was_said(text: str) -> None:
    made = page(*every_row(text), title=text)
    assert made.text.count(text) >= 14


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd"])
def test_only_harmless_links_are_links(link: str) -> None:
    assert page(r.ReplyRow(f"[x]({link}) ![y]({link}) <{link}>")).of("a") == []


def test_a_picture_of_a_reply_is_a_link_so_that_nobody_is_asked_for_it() -> None:
    made = page(r.ReplyRow("![a chart](https://example.com/c.png)"))
    assert made.of("a") == [{"href": "https://example.com/c.png"}]
    assert "a chart" in made.text


def test_an_edit_is_open_and_its_lines_have_their_colours() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n same\n-old\n+new\n"
    made = page(r.CallRow("c", "edit", "Edit x", ToolKind.EDIT, CallStatus.COMPLETED, diffs=(Diff("x", text),)))
    assert [attrs["class"] for attrs in made.of("span")] == ["good", "same", "same", "same", "same", "cut", "add"]
    assert "open" in made.of("details")[0]


def test_the_report_that_ends_a_turn_is_the_agents_own_words() -> None:
    row = r.CallRow(
        "c", "attempt_completion", "Done", status=CallStatus.COMPLETED, output="All **done**", ends_turn=True
    )
    made = page(row)
    assert (made.of("details"), len(made.of("strong"))) == ([], 1)


def test_the_page_says_what_it_is_before_anything_else() -> None:
    made = page(title="Mend\nthe parser")
    assert made.of("html") == [{"lang": "en"}]
    assert "default-src 'none'" in str(made.of("meta"))
    assert "Mend the parser" in made.text
    assert "about" in made.text


def test_a_summary_says_first_what_was_asked_decided_changed_and_proved_and_leads_there() -> None:
    no = r.Approval("r", "ask mode", decision=Choice.REJECT_ONCE, by="user", note="not that one")
    diff = Diff("x.py", "@@ -1 +1,2 @@\n-old\n+new\n+more\n", 2, 1)
    edit = r.CallRow("c1", "edit", "Edit x.py", ToolKind.EDIT, CallStatus.COMPLETED, diffs=(diff,))
    refused = r.CallRow("c2", "edit", "Edit y.py", ToolKind.EDIT, CallStatus.REJECTED, approval=no)
    end = r.TurnEndRow(StopReason.END_TURN, evidence=Evidence(not_checked=("no test ran", "`x<y` still runs")))
    made = page(r.PromptRow("Mend it", 2), edit, refused, end)
    places = {attrs["id"] for _, attrs in made.tags if "id" in attrs}
    assert [attrs["href"] for attrs in made.of("a")] == ["#e2", "#call-c2", "#call-c1"]
    assert places == {"e2", "call-c1", "call-c2"}
    summary = made.text[made.text.index("Asked") : made.text.index("Prompt")]
    for said in ("Mend it", "Edit y.py: rejected by user · not that one", "x.py +2 −1", "no test ran; x<y still runs"):
        assert said in summary
