"""Tasks that run without a terminal, in a process of their own, and what the tasks of other processes do."""

from halocline.services.background import (
    BackgroundService as BackgroundService,
    StartRequest as StartRequest,
    bound_output as bound_output,
    pack_environment as pack_environment,
)
from halocline.services.tasks import OpenStandings as OpenStandings, describe_standing as describe_standing
