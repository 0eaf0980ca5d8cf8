"""The browser of tasks; loaded only if the settings turn it on."""

from collections.abc import Callable, Mapping

from halocline.hosts.browser.browser import LocalBrowser
from halocline.hosts.browser.discovery import FoundBrowser, find_browser
from halocline.hosts.browser.setup import BrowserSetup
from halocline.net.network import Network
from halocline.runtime.network import ca_files
from halocline.store.settings.settings import Settings


class ConfiguredBrowser:
    """The browser that the settings choose; it may be missing on this machine."""

    def __init__(self, settings: Settings, env: Mapping[str, str], network: Callable[[str], Network]) -> None:
        self.found: FoundBrowser = find_browser(settings.browser_executable, remote=settings.browser_remote)
        here = find_browser(settings.browser_executable).program if settings.browser_remote else self.found.program
        self._setup = BrowserSetup(here, settings.browser_remote, settings.viewport, ca_files(settings, env))
        self._network = network

    def open(self) -> LocalBrowser | None:
        """Return a browser for one task, which starts with the first page; None if there is none here."""
        return LocalBrowser(self._setup, self._network) if self.found.program else None
