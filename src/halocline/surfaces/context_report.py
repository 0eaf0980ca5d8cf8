"""A task's context window, its cost and its use of the provider's cache, as lines."""

import textwrap
from collections.abc import Iterator

from halocline.protocol.queries.usage import CacheMiss, CacheReport, ContextPart, ContextReport, Rates, Shortened
from halocline.surfaces.figures import format_count, format_money, format_plural, model_name

MOST = 15
"""Most parts listed of each kind; the others are summed."""
WIDEST, WIDE = 100, 64
"""Most columns used, and the width from which bars are shown."""
_SIZE, _SHARE, _PRICE, _BAR = 8, 7, 10, 16
_CAUSES = {
    "asked": "because you asked for it",
    "crowded": "because it nearly filled the window",
    "overflow": "because it was too long for the model's window",
}
FULL, KEPT, FREE = "█", "▒", "░"


def report_lines(report: ContextReport, width: int) -> Iterator[str]:
    """Lay out the report for a terminal of this width."""
    yield _cut_end(" · ".join(filter(None, (report.task, report.title))) or "A new task in this folder", width)
    yield _cut_end(f"{model_name(report.model) or 'no model'} · {_describe_window(report)}", width)
    yield ""
    yield from _draw_gauge(report, width)
    yield ""
    yield _format_row(("", "tokens", "share", *(("uncached", "cached") if report.rates else ())), "", width)
    for kind, parts in report.kinds().items():
        yield from _group_lines(kind, parts, report, width)
    yield _format_row(("Total", *_format_figures(report.used, report)), "", width)
    yield ""
    yield from _wrap_text(_explain_cost(report), width)
    for done in _describe_removals(report.shortened):
        yield from _wrap_text(done, width)


def _describe_window(report: ContextReport) -> str:
    if report.window_known:
        return f"window of {report.window:,} tokens"
    return f"window unknown, assumed {report.window:,} tokens (--context-window)"


def _draw_gauge(report: ContextReport, width: int) -> Iterator[str]:
    used, kept = (_count_cells(part, report.window, width) for part in (report.used, report.reserve))
    kept = max(0, min(kept, width - used))
    yield FULL * used + FREE * (width - used - kept) + KEPT * kept
    share = _format_percent(report.used, report.window)
    yield from _wrap_text(
        f"{format_count(report.used)} used ({share}) · {format_count(report.free)} free · "
        f"{format_count(report.reserve)} reserved",
        width,
    )


def _count_cells(part: int, whole: int, width: int) -> int:
    return min(width, max(1 if part else 0, round(width * part / whole)))


def _group_lines(kind: str, parts: tuple[ContextPart, ...], report: ContextReport, width: int) -> Iterator[str]:
    total = sum(part.tokens for part in parts)
    yield _format_row((kind.capitalize(), *_format_figures(total, report)), _draw_bar(total, report.used), width)
    if len(parts) == 1 and parts[0].name in (kind, "words"):
        return
    for part in parts[:MOST]:
        yield _format_row((f"  {_part_name(part)}", *_format_figures(part.tokens, report)), "", width)
    if rest := parts[MOST:]:
        tokens = sum(part.tokens for part in rest)
        yield _format_row((f"  {len(rest)} more", *_format_figures(tokens, report)), "", width)


def _part_name(part: ContextPart) -> str:
    times = f" ×{part.times}" if part.times > 1 else ""
    stale = (
        "" if not part.stale else " (stale)" if part.stale == part.tokens else f" ({format_count(part.stale)} stale)"
    )
    return f"{_PART_NAMES.get(part.name, ' '.join(part.name.split()))}{times}{stale}"


_PART_NAMES = {"working": "how to work", "finishing": "when it is done", "machine": "this machine"}
"""Sections of the system prompt whose names say little by themselves."""


def _format_figures(tokens: int, report: ContextReport) -> tuple[str, ...]:
    return (format_count(tokens), _format_percent(tokens, report.window), *_format_prices(tokens, report.rates))


def _format_prices(tokens: int, rates: Rates | None) -> tuple[str, ...]:
    if rates is None:
        return ()
    return _format_dollars(tokens * rates.input / 1_000_000), _format_dollars(tokens * rates.cached / 1_000_000)


def _format_percent(part: int, whole: int) -> str:
    percent = 100 * part / (whole or 1)
    return "<0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


def _format_dollars(amount: float) -> str:
    if 0 < amount < 0.0001:
        return "<$0.0001"
    return f"${amount:.{2 if amount >= 0.1 else 4}f}" if amount else "$0"


def _format_row(cells: tuple[str, ...], bar: str, width: int) -> str:
    """Lay out one line; a narrow terminal has no bar and no share."""
    name, size, share, *prices = cells
    figures = size.rjust(_SIZE) + (share.rjust(_SHARE + 1) if width >= WIDE else "")
    figures += "".join(price.rjust(_PRICE) for price in prices)
    room = width - len(figures) - (_BAR + 2 if width >= WIDE else 0)
    name = _cut_front(name, room) if "/" in name else _cut_end(name, room)
    return (name.ljust(room) + figures + (f"  {bar}" if width >= WIDE else "")).rstrip()


def _draw_bar(part: int, whole: int) -> str:
    return FULL * _count_cells(part, whole or 1, _BAR)


def _explain_cost(report: ContextReport) -> str:
    if report.counted:
        about = (
            f"The provider counted {report.counted:,} tokens with the last reply. Sizes of parts, and of what came "
            f"after, are estimates (scaled by {report.scale:.2f})."
        )
    else:
        about = "All sizes are estimates: the provider has not counted this yet."
    stale = " Stale: the file was later edited or read again." if any(part.stale for part in report.parts) else ""
    price = "Dollars: the cost of a part in one request, uncached and cached."
    return f"{about}{stale} {price if report.rates else 'The price of the model is not known.'}"


def _describe_removals(what: Shortened) -> Iterator[str]:
    """Describe what is left out of the request, and why."""
    if what.cause:
        sizes = f"from {format_count(what.before)} to {format_count(what.after)} tokens"
        yield f"Compacted {_CAUSES[what.cause]}, {sizes}: notes replace {format_plural(what.replaced, 'message')}."
    if what.outdated:
        copies = "an outdated copy of a file" if what.outdated == 1 else f"{what.outdated} outdated copies of files"
        yield f"Left out: {copies}, about {format_count(what.outdated_tokens)} tokens; newer copies follow."
    if what.cut:
        messages = format_plural(what.cut, "message")
        saved = format_count(what.cut_tokens)
        yield f"Cut in the middle: {messages}, saving about {saved} tokens."
    if what.answered_for:
        yield f"Filled in: results of {format_plural(what.answered_for, 'call')} that have none in the log."
    if what.unseen:
        yield f"Left out: {format_plural(what.unseen, 'image')}, because the model does not accept images."
    if what.old_images:
        yield f"Left out: {format_plural(what.old_images, 'older image')}; the newest ones follow."


def _cut_end(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def _cut_front(text: str, width: int) -> str:
    """Shorten a path at its start, as its end says more."""
    indent = len(text) - len(text.lstrip())
    return text if len(text) <= width else " " * indent + "…" + text[len(text) - width + indent + 1 :]


def _wrap_text(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width)


def cache_lines(report: CacheReport) -> Iterator[str]:
    """Describe cache use, with a line for each miss."""
    share = 100 * report.cached / report.read if report.read else 0
    requests = format_plural(report.requests, "request")
    if not report.cached:
        yield f"{requests}, {format_count(report.read)} input tokens; the provider reported none from its cache."
    else:
        yield f"{requests}, {format_count(report.read)} input tokens, {share:.0f} % of them from the cache."
    for miss in report.misses if report.cached else ():
        yield _describe_miss(miss)


def _describe_miss(miss: CacheMiss) -> str:
    cost = f" (+{format_money(miss.extra)})" if miss.extra else ""
    cached, expected = format_count(miss.cached), format_count(miss.expected)
    return f"step {miss.step}: {cached} of {expected} tokens from the cache{cost}: {miss.why}."
