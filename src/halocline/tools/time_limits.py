"""Times that a model gives with a call: in seconds, more than none, not endless; the model reads if another applied."""


def read_seconds(name: str, given: float | None, usual: float | None, longest: float) -> tuple[float | None, str]:
    """Return the time that applies, and a note for the model if it is not the one given. None: without end."""
    if given is None:
        return usual, ""
    if given > longest:
        cut = f"{name}={given:.15g} is over the longest, {longest:g} s, which applied"
        return longest, f"{cut} (it is in seconds, not milliseconds)"
    if given > 0:
        return given, ""
    applied = f"the usual {usual:g} s applied" if usual else "none applied"
    return usual, f"{name}={given:g} is no time in seconds, so {applied}"
