"""Assemble tasks from their parts. The only place that names concrete classes."""
