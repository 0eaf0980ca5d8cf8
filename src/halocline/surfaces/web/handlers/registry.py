"""All requests of a page besides task commands: `QUERIES` change nothing, `ACTIONS` do."""

from halocline.surfaces.web.handlers import (
    background_jobs,
    commits,
    composer,
    folders,
    history,
    instruction_details,
    instructions,
    mcp,
    mcp_details,
    policy,
    revert,
    settings,
    sign_ins,
    tasks,
)
from halocline.surfaces.web.handlers.route import Rows

QUERIES: Rows = {
    **tasks.QUERIES,
    **history.QUERIES,
    **commits.QUERIES,
    **composer.QUERIES,
    **settings.QUERIES,
    **mcp.QUERIES,
    **mcp_details.QUERIES,
    **instructions.QUERIES,
    **instruction_details.QUERIES,
    **policy.QUERIES,
    **folders.QUERIES,
    **background_jobs.QUERIES,
}
ACTIONS: Rows = {
    **tasks.ACTIONS,
    **history.ACTIONS,
    **revert.ACTIONS,
    **commits.ACTIONS,
    **settings.ACTIONS,
    **mcp.ACTIONS,
    **mcp_details.ACTIONS,
    **sign_ins.ACTIONS,
    **instructions.ACTIONS,
    **policy.ACTIONS,
    **folders.ACTIONS,
    **background_jobs.ACTIONS,
}
