"""Tasks that run without a terminal, in a process of their own."""

from halocline.services.background import (
    BackgroundService as BackgroundService,
    StartRequest as StartRequest,
    bound_output as bound_output,
    pack_environment as pack_environment,
)
