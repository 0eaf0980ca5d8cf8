"""Models that wrap others: retries, fallbacks, one model per mode."""
