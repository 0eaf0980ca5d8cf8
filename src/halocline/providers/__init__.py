"""The voices: one module per API family; vendors are rows of data."""
