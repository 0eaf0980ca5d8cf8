"""Ports: the Protocols through which the core reaches the outside world. Each is small and uses our own values."""
