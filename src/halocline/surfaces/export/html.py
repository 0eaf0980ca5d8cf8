"""Export a task's rows as one HTML page: no scripts, no external resources, dark and light.

All text is escaped; replies are Markdown without raw HTML, and their images become links.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from halocline.protocol.events.rewind import brief_target
from halocline.protocol.kinds import CallStatus, Diff, TodoStatus
from halocline.surfaces import figures
from halocline.surfaces.export.summary import mark_code, name_place, summarize_rows
from halocline.surfaces.export.undone import NOTHING, Undone
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.words import describe_change, describe_decision

SHORT = 12
"""Characters shown of a checkpoint's name."""
_STATUS = {
    CallStatus.COMPLETED: "✓",
    CallStatus.FAILED: "✗",
    CallStatus.REJECTED: "⊘",
    CallStatus.SKIPPED: "–",
    CallStatus.CANCELLED: "◼",
    None: "…",
}
_TODO = {TodoStatus.PENDING: "☐", TodoStatus.IN_PROGRESS: "▸", TodoStatus.COMPLETED: "☑"}
_SIGNS = {"+": "add", "-": "cut"}
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Halocline">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="about">{about}</p>
</header>
<main>
{body}
</main>
</body>
</html>
"""
_STYLE = """
:root { --back: #fbfaf8; --card: #fff; --ink: #1d2126; --quiet: #5d6570; --line: #dcdad5; --accent: #00647a;
  --add: #116329; --add-back: #e2f5e6; --cut: #a01622; --cut-back: #fdeaea; --said: #e9f3f5; }
@media screen and (prefers-color-scheme: dark) {
  :root { --back: #14171a; --card: #1b1f23; --ink: #e3e6ea; --quiet: #9aa3ad; --line: #32383f; --accent: #6fc7dc;
    --add: #7ee08f; --add-back: #12301b; --cut: #ff9a9a; --cut-back: #3a1a1d; --said: #17292e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 54rem; background: var(--back); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
main h1, main h2, main h3 { font-size: 1.1rem; margin: 1.2rem 0 .4rem; }
.about, .remark, .facts { color: var(--quiet); font-size: .87rem; }
.about { margin: 0 0 1.5rem; padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
.prompt { background: var(--said); border-left: 3px solid var(--accent); border-radius: 4px; margin: 1.5rem 0 1rem;
  padding: .7rem 1rem; white-space: pre-wrap; }
.prompt b { display: block; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--accent); }
details { background: var(--card); border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; }
summary { cursor: pointer; padding: .45rem .8rem; }
summary code { background: none; padding: 0; }
summary:focus-visible { outline: 2px solid var(--accent); border-radius: 6px; }
.inside { border-top: 1px solid var(--line); padding: .6rem .8rem; }
code, pre { font: .86rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
:not(pre) > code { background: var(--said); border-radius: 3px; padding: .1em .3em; }
pre { margin: .4rem 0; overflow-x: auto; overflow-wrap: normal; background: var(--card); border: 1px solid var(--line);
  border-radius: 4px; padding: .6rem .8rem; max-height: 36rem; }
.add { color: var(--add); background: var(--add-back); } .cut { color: var(--cut); background: var(--cut-back); }
.diff { display: inline-block; min-width: 100%; } .diff span { display: block; min-height: 1.5em; }
.bad { color: var(--cut); } .good { color: var(--add); }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; overflow-wrap: normal; }
.items tr { background: var(--card); }
@media screen and (max-width: 44rem) {
  .items, .items tbody, .items tr, .items td { display: block; border: 0; }
  .items tr:first-child, .items td:empty { display: none; }
  .items tr { border: 1px solid var(--line); border-top: 0; padding: .3rem .6rem; overflow-wrap: anywhere; }
  .items tr:has([data-head=Item]) { border-top: 1px solid var(--line); margin-top: .8rem; }
  .items td { padding: .1rem 0; overflow-wrap: anywhere; }
  .items td[data-head] { padding-left: 5.5rem; }
  .items td[data-head]::before { content: attr(data-head); color: var(--quiet); font-size: .8rem;
    display: inline-block; width: 5.5rem; margin-left: -5.5rem; }
  .items [data-head=Item] { font-weight: 600; } }
blockquote { border-left: 3px solid var(--line); margin: .5rem 0; padding-left: 1rem; color: var(--quiet); }
a { color: var(--accent); } ul.todos { list-style: none; padding-left: .3rem; }
.end { border-top: 1px solid var(--line); margin-top: 1rem; padding-top: .5rem; }
.summary { margin: 0 0 1.5rem; padding-bottom: 1rem; border-bottom: 1px solid var(--line); font-size: .93rem; }
.summary h2 { margin: .6rem 0 .1rem; font-size: .93rem; } .summary ul { margin: 0; padding-left: 1.2rem; }
@media print { :root { color-scheme: only light; } details::details-content { content-visibility: visible; }
  pre { max-height: none; white-space: pre-wrap; } .prompt, h2, summary { break-after: avoid; } }
"""


def to_html(rows: Iterable[r.Row], title: str, about: Sequence[str], undone: Undone = NOTHING) -> str:
    """Render the whole task: prompts, replies and collapsible calls. `about` are facts for the page's header.

    The summary leaves out what was `undone`.
    """
    told = [*rows]
    body = "\n".join(filter(None, [summarize_rows(told, undone), *map(_export_row, told)]))
    return build_page(title or "Task", about, body)


def build_page(title: str, about: Sequence[str], body: str) -> str:
    """Return a whole page around a body that is HTML; the facts `about` it are text."""
    name = escape(" ".join(title.split()))
    return _PAGE.format(title=name, style=_STYLE, about=" · ".join(map(escape, about)), body=body)


def _export_row(row: r.Row) -> str:
    match row:
        case r.StartRow():
            facts = f"{figures.model_name(row.model)}, {row.mode} mode, approvals {row.approval_mode}"
            return _export_remark(f"{facts}, in {' and '.join(row.folders)}")
        case r.PromptRow():
            label = "Steering" if row.steering else "Prompt"
            return f'<div class="prompt" id="e{row.seq}"><b>{label}</b>{escape(row.text.strip())}</div>'
        case r.ThoughtRow():
            return _fold_details("Thought", f'<div class="remark">{_export_markdown(row.text)}</div>')
        case r.ReplyRow():
            return _export_markdown(row.text)
        case r.CallRow():
            return _export_call(row)
        case r.QuestionRow():
            options = "".join(f"<li>{escape(option)}</li>" for option in row.options)
            answer = f"<p><b>Answer:</b> {escape(row.answer) or 'none'}</p>"
            return f"<blockquote>{_export_markdown(row.question)}<ol>{options}</ol>{answer}</blockquote>"
        case r.TodosRow():
            items = "".join(f"<li>{_TODO[todo.status]} {escape(todo.text)}</li>" for todo in row.todos)
            return f'<ul class="todos">{items}</ul>'
        case _:
            return _export_message(row)


def _export_message(row: r.Row) -> str:
    match row:
        case r.CheckpointRow():
            return _export_remark(f"Checkpoint {row.checkpoint[:SHORT]}: {row.label}")
        case r.RestoredRow():
            return _export_remark(
                f"Restored {brief_target(row.checkpoint, SHORT)}; undo: {brief_target(row.undo, SHORT)}. "
                + " ".join(row.left_out)
            )
        case r.RetryRow():
            return _export_remark(figures.describe_retry(row))
        case r.JobEndRow():
            return _export_remark(f"{figures.job_ending(row)}: {row.command}")
        case r.RulesRow():
            return _export_remark(figures.describe_rules(row))
        case r.CompactionRow():
            return _export_remark(figures.describe_compaction(row))
        case r.HookRow():
            return _export_remark(figures.hook_ending(row))
        case r.NoticeRow():
            return _export_remark(row.text)
        case r.ErrorRow():
            return f'<p><b class="bad">Error:</b> {escape(row.text)} {escape(row.hint)}</p>'
        case r.TurnEndRow():
            return "".join(f'<p class="remark end">{mark_code(one)}</p>' for one in figures.list_ending(row))
        case _:
            return ""


def _export_remark(text: str) -> str:
    return f'<p class="remark">{escape(" ".join(text.split()))}</p>'


def _export_call(row: r.CallRow) -> str:
    """Render a collapsible call. The report that ends a turn is rendered as a reply."""
    if row.ends_turn and row.status is CallStatus.COMPLETED:
        return _export_markdown(row.output)
    good = row.status is CallStatus.COMPLETED and not row.failure
    status = _STATUS[CallStatus.FAILED if row.failure else row.status]
    title = escape(" ".join(row.title.split()))
    name = "you ran" if row.own else escape(row.name)
    head = f'<span class="{"good" if good else "bad"}">{status}</span> {name} <code>{title}</code>'
    shown = [f'<pre><code class="diff">{_export_diff(diff)}</code></pre>' for diff in row.diffs]
    if not row.diffs and row.output.strip():
        shown = [f"<pre>{escape(row.output.rstrip())}</pre>"]
    inside = f'<div class="facts">{escape(" · ".join(_call_facts(row)))}</div>{"".join(shown)}'
    return _fold_details(head, inside, is_open=bool(row.diffs), place=name_place(row))


def _call_facts(row: r.CallRow) -> list[str]:
    facts = [row.failure or row.answer or (row.status.value if row.status else "not finished")]
    facts += [figures.format_duration(row.seconds)] if row.seconds is not None else []
    facts += [f"{lane.name}: {figures.describe_lane(lane)} (task {lane.child})" for lane in row.lanes]
    if row.approval and row.approval.decision:
        facts.append(describe_decision(row.approval))
        facts += filter(None, [describe_change(row.approval)])
        facts += [f"note: {row.approval.note}"] if row.approval.note else []
    return facts


def _fold_details(head: str, inside: str, *, is_open: bool = False, place: str = "") -> str:
    shown = (f' id="{escape(place)}"' if place else "") + (" open" if is_open else "")
    return f'<details{shown}><summary>{head}</summary><div class="inside">{inside}</div></details>'


def _export_diff(diff: Diff) -> str:
    """Color the lines below the file names; the signs say the same without color."""
    names, at, places = diff.text.partition("@@")
    lines = [("same", line) for line in names.splitlines()]
    lines += [(_SIGNS.get(line[:1], "same"), line) for line in (at + places).splitlines()]
    return "".join(f'<span class="{style}">{escape(line)}</span>' for style, line in lines)


def _export_markdown(text: str) -> str:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image_as_link)
    return str(parser.render(text))


def _image_as_link(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    """Render an image as a link, so that opening the page loads nothing."""
    source = escape(str(tokens[at].attrGet("src") or ""))
    return f'<a href="{source}">{escape(tokens[at].content) or source}</a>'
