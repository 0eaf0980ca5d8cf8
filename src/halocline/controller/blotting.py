"""What programs print, without the keys in it: for the model, the log and everybody who reads them."""

from collections.abc import Callable

from halocline.store.settings import Settings


def blotter(settings: Settings) -> Callable[[str], str]:
    """Takes keys out of a text, unless the settings want them shown."""
    return _blotted if settings.hide_keys else str


def _blotted(text: str) -> str:
    from halocline.protocol.redaction import without_keys  # the first output is soon enough

    return without_keys(text)
