"""Model providers: one package per API family; vendors are rows of data."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.providers import (
        auth as auth,
        errors as errors,
        extra_body as extra_body,
        refused_parts as refused_parts,
        response_format as response_format,
        server_probe as server_probe,
        text_tools as text_tools,
        thinking as thinking,
        vscode as vscode,
    )
else:
    __getattr__ = load_modules_of(__name__)
