"""The themes of the terminal."""

from halocline.store.themes import ATTRIBUTES as ATTRIBUTES, TERMINAL as TERMINAL, Theme as Theme
