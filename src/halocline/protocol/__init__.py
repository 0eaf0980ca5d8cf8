"""The language of Halocline: pure values, no I/O. Everything a room says to another is defined here."""
