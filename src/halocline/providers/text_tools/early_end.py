"""The usage of a reply that was ended before its server counted: an estimate."""

from halocline.context.token_estimate import estimate_tokens, request_tokens
from halocline.ports.model import Request
from halocline.protocol.events import UsageReported
from halocline.protocol.messages import Usage
from halocline.providers.catalog.models import ModelInfo, cost_of


def estimate_usage(request: Request, text: str, info: ModelInfo) -> UsageReported:
    """Estimate the usage of a reply with this text."""
    usage = Usage(input=request_tokens(request), output=estimate_tokens(text))
    return UsageReported(usage, cost_of(info, usage), info.window)
