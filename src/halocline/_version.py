"""The one place that names the version, and where the project lives."""

__version__ = "0.1.0"
REPOSITORY = "https://github.com/halocline/halocline"
