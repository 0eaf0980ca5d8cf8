"""The harbour: other people's tools. Only `session`, `pipes` and `sign_in` know the SDK; they are imported in a thread."""
