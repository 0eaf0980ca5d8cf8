"""The edit engine: locate, plan, apply, report. Pure functions on text."""
