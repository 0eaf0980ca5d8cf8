"""Contexts of tools that differ from the usual one."""

from msgspec import structs

from halocline.ports.tool import ToolContext


def change_context(context: ToolContext, **changes: object) -> ToolContext:
    """The context with other parts, wherever they are in it: `change_context(context, mode=Mode.PLAN)`."""
    for name, value in changes.items():
        if name in context.__struct_fields__:
            context = structs.replace(context, **{name: value})
            continue
        group = next(
            group for group in ("call", "host", "task", "secrets") if name in getattr(context, group).__struct_fields__
        )
        context = structs.replace(context, **{group: structs.replace(getattr(context, group), **{name: value})})
    return context
