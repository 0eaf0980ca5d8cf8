"""Settings and their files, and what the doctor finds."""

from halocline.services.config_files import (
    ConfigFile as ConfigFile,
    ConfigFiles as ConfigFiles,
    ConfigText as ConfigText,
)
from halocline.services.doctor.doctor import check_model as check_model, run_checks as run_checks
from halocline.services.doctor.finding import Finding as Finding
from halocline.services.settings import Setting as Setting, SettingsService as SettingsService
