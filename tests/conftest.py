import os

from hypothesis import HealthCheck, settings

# On a busy machine making examples may be slow; that says nothing about what is tested. Everyday runs look for new
# examples; CI always tries the same ones, so that it judges the change and not the luck of the draw.
settings.register_profile(
    "halocline",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("halocline")
