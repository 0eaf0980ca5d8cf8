"""Importer for Cline's tasks."""
