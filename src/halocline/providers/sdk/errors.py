"""Translate exceptions of the library and the SDKs below it to a `ModelError` that a person can act on."""

from collections.abc import Iterator

import msgspec
from pydantic_ai import exceptions as lib

from halocline.net.network_failures import broken_error, stalled_error
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.terminal_text import cut_words
from halocline.providers.endpoint import Endpoint
from halocline.providers.errors import classify_in_stream, classify_refusal, describe_failure

Kind = ModelErrorKind

# The library's categories for vendors' own codes, as the equivalent status.
_CATEGORIES: tuple[tuple[type[Exception], int], ...] = (
    (lib.ModelRateLimitError, 429),
    (lib.ModelQuotaExceededError, 402),
    (lib.ModelOverloadedError, 529),
    (lib.ModelUnavailableError, 503),
    (lib.ModelServerError, 500),
    (lib.ModelContextWindowExceededError, 413),
    (lib.ModelAuthenticationError, 401),
    (lib.ModelNotFoundError, 404),
    (lib.ModelRequestRejectedError, 400),
)
_UNSIGNED = ("NoCredentialsError", "NoRegionError", "DefaultCredentialsError", "RefreshError", "TokenRetrievalError")
"""Exceptions of the cloud SDKs for missing credentials or a missing region."""


def translate_error(error: Exception, endpoint: Endpoint) -> ModelError:
    """Translate what the library raised."""
    if known := _known_error(error, endpoint):
        return known
    match error:
        case lib.ModelTimeoutError():
            return stalled_error(endpoint.vendor.title, endpoint.network.first_byte_timeout)
        case lib.ModelConnectionError():
            return broken_error(endpoint.vendor.title, error.__cause__ or error)
        case lib.ModelHTTPError():
            return _refusal_error(error, endpoint)
        case lib.ModelAPIError() if error.body is not None or _status_category(error):
            return _stream_error(error, endpoint)
        case lib.ContentFilterError():
            return describe_failure("filtered", who=endpoint.vendor.title)
        case lib.UserError():
            return not_made(error, endpoint)
    return describe_failure("unexpected", who=endpoint.vendor.title, reason=_error_line(error, endpoint))


def not_made(error: Exception, endpoint: Endpoint) -> ModelError:
    """The error for a model that could not be set up; a retry would not help."""
    text = f"{endpoint.vendor.title} is not set up correctly: {_error_line(error, endpoint)}"
    return _known_error(error, endpoint) or ModelError(Kind.INVALID_REQUEST, text, _missing_credentials(endpoint))


def _known_error(error: Exception, endpoint: Endpoint) -> ModelError | None:
    """Find our own error among the causes, or one for missing credentials."""
    for cause in _error_chain(error):
        if isinstance(cause, ModelError):
            return cause
        if type(cause).__name__ in _UNSIGNED:
            text = f"You are not signed in to {endpoint.vendor.title}: {_error_line(cause, endpoint)}"
            return ModelError(Kind.AUTH, text, _missing_credentials(endpoint))
    return None


def _error_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _refusal_error(error: lib.ModelHTTPError, endpoint: Endpoint) -> ModelError:
    """Classify by status and wording; if these say little, by the library's category."""
    body, headers = _error_body(error.body), error.headers or {}
    found = classify_refusal(error.status_code, body, headers, endpoint)
    status = _status_category(error)
    if found.kind is Kind.INVALID_REQUEST and status not in (0, 400):
        return classify_refusal(status, body, headers, endpoint)
    return found


def _stream_error(error: lib.ModelAPIError, endpoint: Endpoint) -> ModelError:
    """Classify an error without a status, as streams contain them."""
    if status := _status_category(error):
        return classify_refusal(status, _error_body(error.body or error.message), {}, endpoint)
    return classify_in_stream(error.body, endpoint)


def _status_category(error: lib.ModelAPIError) -> int:
    return next((status for category, status in _CATEGORIES if isinstance(error, category)), 0)


def _error_body(body: object) -> bytes:
    return body.encode() if isinstance(body, str) else msgspec.json.encode(body, enc_hook=str)


def _missing_credentials(endpoint: Endpoint) -> str:
    vendor = endpoint.vendor
    return f"It needs {vendor.credentials or f'a key in {vendor.key_variable}'}."


def _error_line(error: BaseException, endpoint: Endpoint) -> str:
    return cut_words(endpoint.without_key(" ".join((str(error) or type(error).__name__).split())), 300)
