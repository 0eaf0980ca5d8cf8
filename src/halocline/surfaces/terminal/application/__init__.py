"""The prompt_toolkit application: it owns the terminal, draws lines around a composer and restores the terminal."""
