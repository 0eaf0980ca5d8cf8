"""Tasks, settings and MCP servers of other programs."""

from halocline.importers.foreign_setting import ForeignSetting as ForeignSetting
from halocline.importers.mcp_servers import OtherServers as OtherServers
from halocline.importers.programs import IMPORTABLE_PROGRAMS as IMPORTABLE_PROGRAMS
from halocline.importers.transcript import FoundTranscript as FoundTranscript
from halocline.services.import_settings import SettingsImport as SettingsImport
from halocline.services.imports import (
    ImportResult as ImportResult,
    ImportService as ImportService,
    TranscriptStatus as TranscriptStatus,
)
