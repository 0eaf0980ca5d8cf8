"""Closed intervals on a line: merging them, and finding what they leave free."""

Interval = tuple[int, int]


def merge(intervals: list[Interval]) -> list[Interval]:
    """Join intervals that overlap or touch; the result is sorted.

    >>> merge([(5, 8), (1, 3), (2, 4)])
    [(1, 4), (5, 8)]
    """
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def free(intervals: list[Interval], within: Interval) -> list[Interval]:
    """The gaps between intervals, inside `within`."""
    gaps: list[Interval] = []
    position = within[0]
    for start, end in merge(intervals):
        if start > position:
            gaps.append((position, start))
        position = max(position, end)
    if position < within[1]:
        gaps.append((position, within[1]))
    return gaps
