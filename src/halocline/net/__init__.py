"""Reaching servers: the HTTP client, proxies, TLS. It knows nothing of models; every room above may use it."""
