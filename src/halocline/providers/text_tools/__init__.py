"""Tool calls written as text, for models without native tool calls."""
