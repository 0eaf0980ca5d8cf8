"""Transcripts of other programs, read into what our own log says: one module for each, imported when it is used."""
