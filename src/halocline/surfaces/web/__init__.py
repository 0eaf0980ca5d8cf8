"""The web surface: a server on loopback and the page it serves. No other package depends on it."""
