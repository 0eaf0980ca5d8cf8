"""The doors: Protocols the core needs from the outside world. Each has few methods and speaks in our values."""
