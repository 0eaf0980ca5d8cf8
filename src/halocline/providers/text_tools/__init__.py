"""Tool calls written as text, for models that have no calls of their own."""
