import os
import signal

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

# A suite that was started in the background is told to ignore Ctrl-C, and every program that it starts inherits that;
# those that a test presses Ctrl-C in must hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)
