from tests.providers.certificates import authority, trusted

__all__ = ["authority", "trusted"]
