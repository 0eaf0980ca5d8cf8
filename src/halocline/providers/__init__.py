"""Model providers: one package per API family; vendors are rows of data."""
