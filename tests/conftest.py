from hypothesis import HealthCheck, settings

# On a busy machine making examples may be slow; that says nothing about what is tested.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")
