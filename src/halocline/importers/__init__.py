"""Importers: convert other programs' transcripts to our own events. One module per program, imported on demand."""
