"""Models around a model: retries, fallbacks, one model per mode."""
