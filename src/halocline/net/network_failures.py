"""What the failures of a network mean: one sentence for a person, and whether asking again can help.

Every sentence begins with who failed: the server, or the proxy before it.
"""

from socket import gaierror
from ssl import SSLCertVerificationError, SSLEOFError, SSLError, SSLZeroReturnError

from halocline.net.connection import ConnectionLost, ProtocolError
from halocline.protocol.errors import ModelError, ModelErrorKind

_CHECK_ADDRESS = "Check the network connection and the base URL."
_CHECK_PROXY = "Check the proxy (--proxy, HTTPS_PROXY), or list the server in NO_PROXY."
_CHECK_PORT = "Check the port, and whether the address begins with http:// or https://."
_START = "Start the server there, or give another one with --base-url."
_AGAIN = "Try again; if it happens often, check the server or a proxy."
_TRUST = "If you trust it, name a file with its authority's certificate: --ca-file or the setting ca_file."

_BROKEN_OFF = (ConnectionLost, ConnectionResetError, ConnectionAbortedError, BrokenPipeError)

# OpenSSL's verification codes (X509_V_ERR_*).
_CERTIFICATES = {
    9: ("shows a certificate that is not valid yet", "Check this machine's clock."),
    10: ("shows a certificate that has expired", "Check this machine's clock; else the server's owner must renew it."),
    18: ("shows a certificate that it signed itself", _TRUST),
    19: ("shows a certificate of an authority that this machine does not know", _TRUST),
    20: ("shows a certificate of an authority that this machine does not know", _TRUST),
    21: ("shows a certificate without the one of its authority", _TRUST),
    62: ("shows a certificate that is for another name", "Check the base URL."),
    64: ("shows a certificate that is for another address", "Check the base URL."),
}


def stalled_error(host: str, seconds: float) -> ModelError:
    """Nothing came for so many seconds."""
    text = f"{host} sent nothing for {seconds:g} s."
    return ModelError(ModelErrorKind.STALLED, text, "Try again; if it happens often, choose another model or server.")


def took_too_long(peer: str, seconds: float) -> ModelError:
    """No connection came about within so many seconds."""
    text = f"{peer} did not take the connection within {seconds:g} s."
    return ModelError(ModelErrorKind.UNREACHABLE, text, f"{_CHECK_ADDRESS} --connect-timeout gives it longer.")


def broken_error(host: str, error: BaseException) -> ModelError:
    """A connection that stood failed."""
    if isinstance(error, _BROKEN_OFF):
        return ModelError(ModelErrorKind.NETWORK, f"{host} broke off the connection.", _AGAIN)
    if isinstance(error, ProtocolError):
        return ModelError(ModelErrorKind.NETWORK, f"{host} did not answer as HTTP says ({error}).", _CHECK_PORT)
    return ModelError(ModelErrorKind.NETWORK, f"{host} could not be reached: {_error_reason(error)}.", _CHECK_ADDRESS)


def not_connected(peer: str, error: BaseException, *, through_proxy: bool) -> ModelError:
    """A connection did not come about."""
    check, start = (_CHECK_PROXY, _CHECK_PROXY) if through_proxy else (_CHECK_ADDRESS, _START)
    match error:
        case SSLCertVerificationError():
            return _untrusted_error(peer, error)
        case SSLEOFError() | SSLZeroReturnError():
            return ModelError(ModelErrorKind.NETWORK, f"{peer} broke off the connection.", _AGAIN)
        case SSLError():
            return _no_tls(peer, error)
        case _ if isinstance(error, (ProtocolError, *_BROKEN_OFF)):
            return broken_error(peer, error)
        case gaierror():
            text, hint = f"{peer} was not found: its host name does not resolve.", check
        case UnicodeError():
            text, hint = f"{peer} is no valid host name.", check
        case _ if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
            text, hint = f"{peer} refused the connection.", start
        case _:
            text, hint = f"{peer} could not be reached: {_error_reason(error)}.", check
    return ModelError(ModelErrorKind.UNREACHABLE, text, hint)


def proxy_refused(proxy: str, host: str, status: int) -> ModelError:
    """A proxy did not pass a request on."""
    kind, hint = ModelErrorKind.PROXY, _CHECK_PROXY
    match status:
        case 407:
            text = f"The proxy {proxy} wants a user name and a password, or did not accept the ones it was given."
            hint = "Write them into the proxy's address: http://user:password@host:port."
        case 408 | 425 | 429 | 500 | 502 | 503 | 504:
            kind, text = ModelErrorKind.UNREACHABLE, f"The proxy {proxy} could not reach {host} (status {status})."
        case _:
            text = f"The proxy {proxy} does not let requests to {host} through (status {status})."
    return ModelError(kind, text, hint, status=status)


def _untrusted_error(peer: str, error: SSLCertVerificationError) -> ModelError:
    other = (f"shows a certificate that cannot be trusted ({error.verify_message})", _TRUST)
    said, hint = _CERTIFICATES.get(error.verify_code, other)
    return ModelError(ModelErrorKind.TLS, f"{peer} {said}.", hint)


def _no_tls(peer: str, error: SSLError) -> ModelError:
    reason = error.reason or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        text = f"{peer} speaks no TLS at this port: no secure connection."
        return ModelError(ModelErrorKind.TLS, text, "Check the port, or write http:// if the server is meant to be so.")
    words = reason.lower().replace("_", " ")
    return ModelError(ModelErrorKind.TLS, f"{peer} agreed to no secure connection: {words}.", _CHECK_ADDRESS)


def _error_reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
