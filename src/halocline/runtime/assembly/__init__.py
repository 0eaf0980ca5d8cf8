"""Wires a task from its parts. The only place that names concrete classes."""
