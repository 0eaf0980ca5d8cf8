"""The harbour: other people's tools.

Only `session` and what it imports know the SDK; they are imported in a thread, by the first server that starts.
"""
