"""All that a page may ask (`QUERIES`: nothing changes by it) and have done beside commands to tasks (`ACTIONS`)."""

from halocline.surfaces.web.subjects import (
    committing,
    composing,
    folders,
    mcp,
    mcp_details,
    past,
    policy,
    reverting,
    rule_details,
    rules,
    settings,
    sign_ins,
    tasks,
    works,
)
from halocline.surfaces.web.subjects.row import Rows

QUERIES: Rows = {
    **tasks.QUERIES,
    **past.QUERIES,
    **committing.QUERIES,
    **composing.QUERIES,
    **settings.QUERIES,
    **mcp.QUERIES,
    **mcp_details.QUERIES,
    **rules.QUERIES,
    **rule_details.QUERIES,
    **policy.QUERIES,
    **folders.QUERIES,
    **works.QUERIES,
}
ACTIONS: Rows = {
    **tasks.ACTIONS,
    **past.ACTIONS,
    **reverting.ACTIONS,
    **committing.ACTIONS,
    **settings.ACTIONS,
    **mcp.ACTIONS,
    **mcp_details.ACTIONS,
    **sign_ins.ACTIONS,
    **rules.ACTIONS,
    **policy.ACTIONS,
    **folders.ACTIONS,
    **works.ACTIONS,
}
