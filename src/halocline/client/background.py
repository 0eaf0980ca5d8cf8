"""Tasks that run without a terminal: in a process of their own, or at set times; and what other processes' tasks do."""

from halocline.services.background import (
    BackgroundService as BackgroundService,
    StartRequest as StartRequest,
    bound_output as bound_output,
    pack_environment as pack_environment,
)
from halocline.services.schedules.service import (
    LastRun as LastRun,
    Schedule as Schedule,
    ScheduleService as ScheduleService,
    hide_keys as hide_keys,
)
from halocline.services.tasks import OpenStandings as OpenStandings, describe_standing as describe_standing
from halocline.services.user_units import (
    OWN_PROGRAM as OWN_PROGRAM,
    escape_text as escape_text,
    list_environment as list_environment,
    quote_command as quote_command,
    run_systemctl as run_systemctl,
    unit_folder as unit_folder,
)
