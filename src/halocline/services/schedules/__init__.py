"""Runs at set times, which systemd or cron starts."""
