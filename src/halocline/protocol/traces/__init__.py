"""Traces: a log as spans of OpenTelemetry, and the context that joins them with those of other programs."""
