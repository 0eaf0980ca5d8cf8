"""Turn network failures into errors: one sentence for the user, and a kind that says if a retry can help.

Every sentence starts with what failed: the server, or the proxy before it.
"""

from socket import gaierror
from ssl import SSLCertVerificationError, SSLEOFError, SSLError, SSLZeroReturnError

from halocline.net.connection import ConnectionLost, ProtocolError
from halocline.protocol.errors import ModelError, ModelErrorKind

_CHECK_ADDRESS = "Check the network connection and the base URL."
_CHECK_PROXY = "Check the proxy (--proxy, HTTPS_PROXY), or list the server in NO_PROXY."
_CHECK_PORT = "Check the port, and whether the address starts with http:// or https://."
_START = "Start the server, or choose another one with --base-url."
_AGAIN = "Try again; if it happens often, check the server or a proxy."
_TRUST = "If you trust it, pass a file with its authority's certificate: --ca-file or the setting ca_file."

_BROKEN_OFF = (ConnectionLost, ConnectionResetError, ConnectionAbortedError, BrokenPipeError)

# OpenSSL's verification codes (X509_V_ERR_*).
_CERTIFICATES = {
    9: ("presented a certificate that is not valid yet", "Check this machine's clock."),
    10: (
        "presented a certificate that has expired",
        "Check this machine's clock; if it is right, the certificate must be renewed.",
    ),
    18: ("presented a certificate that is self-signed", _TRUST),
    19: ("presented a certificate from an authority that this machine does not know", _TRUST),
    20: ("presented a certificate from an authority that this machine does not know", _TRUST),
    21: ("presented a certificate without its issuer's certificate", _TRUST),
    62: ("presented a certificate for a different host name", "Check the base URL."),
    64: ("presented a certificate for a different address", "Check the base URL."),
}


def stalled_error(host: str, seconds: float) -> ModelError:
    """Return the error for a server that sent nothing for so many seconds."""
    text = f"{host} sent nothing for {seconds:g} s."
    return ModelError(ModelErrorKind.STALLED, text, "Try again; if it happens often, choose another model or server.")


def took_too_long(peer: str, seconds: float) -> ModelError:
    """Return the error for a connection that took longer than so many seconds."""
    text = f"{peer} did not accept the connection within {seconds:g} s."
    return ModelError(ModelErrorKind.UNREACHABLE, text, f"{_CHECK_ADDRESS} Allow more time with --connect-timeout.")


def broken_error(host: str, error: BaseException) -> ModelError:
    """Return the error for an open connection that failed."""
    if isinstance(error, _BROKEN_OFF):
        return ModelError(ModelErrorKind.NETWORK, f"{host} closed the connection unexpectedly.", _AGAIN)
    if isinstance(error, ProtocolError):
        return ModelError(ModelErrorKind.NETWORK, f"{host} did not send a valid HTTP response ({error}).", _CHECK_PORT)
    return ModelError(ModelErrorKind.NETWORK, f"{host} could not be reached: {_error_reason(error)}.", _CHECK_ADDRESS)


def not_connected(peer: str, error: BaseException, *, through_proxy: bool) -> ModelError:
    """Return the error for a connection that could not be opened."""
    check, start = (_CHECK_PROXY, _CHECK_PROXY) if through_proxy else (_CHECK_ADDRESS, _START)
    match error:
        case SSLCertVerificationError():
            return _untrusted_error(peer, error)
        case SSLEOFError() | SSLZeroReturnError():
            return ModelError(ModelErrorKind.NETWORK, f"{peer} closed the connection unexpectedly.", _AGAIN)
        case SSLError():
            return _no_tls(peer, error)
        case _ if isinstance(error, (ProtocolError, *_BROKEN_OFF)):
            return broken_error(peer, error)
        case gaierror():
            text, hint = f"{peer} was not found: its host name does not resolve.", check
        case UnicodeError():
            text, hint = f"{peer} is not a valid host name.", check
        case _ if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
            text, hint = f"{peer} refused the connection.", start
        case _:
            text, hint = f"{peer} could not be reached: {_error_reason(error)}.", check
    return ModelError(ModelErrorKind.UNREACHABLE, text, hint)


def proxy_refused(proxy: str, host: str, status: int) -> ModelError:
    """Return the error for a proxy that did not forward a request."""
    kind, hint = ModelErrorKind.PROXY, _CHECK_PROXY
    match status:
        case 407:
            text = f"The proxy {proxy} requires a user name and password, or rejected the ones it got."
            hint = "Put them into the proxy's address: http://user:password@host:port."
        case 408 | 425 | 429 | 500 | 502 | 503 | 504:
            kind, text = ModelErrorKind.UNREACHABLE, f"The proxy {proxy} could not reach {host} (status {status})."
        case _:
            text = f"The proxy {proxy} does not allow requests to {host} (status {status})."
    return ModelError(kind, text, hint, status=status)


def _untrusted_error(peer: str, error: SSLCertVerificationError) -> ModelError:
    other = (f"presented a certificate that cannot be trusted ({error.verify_message})", _TRUST)
    problem, hint = _CERTIFICATES.get(error.verify_code, other)
    return ModelError(ModelErrorKind.TLS, f"{peer} {problem}.", hint)


def _no_tls(peer: str, error: SSLError) -> ModelError:
    reason = error.reason or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        text = f"{peer} does not use TLS on this port."
        return ModelError(ModelErrorKind.TLS, text, "Check the port, or use http:// if the server has no TLS.")
    words = reason.lower().replace("_", " ")
    return ModelError(ModelErrorKind.TLS, f"{peer} could not set up a secure connection: {words}.", _CHECK_ADDRESS)


def _error_reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
