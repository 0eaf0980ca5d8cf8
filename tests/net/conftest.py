from tests.net.certificates import authority, trusted

__all__ = ["authority", "trusted"]
