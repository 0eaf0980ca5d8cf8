"""Network access: the HTTP client, proxies, TLS. It knows nothing about models; every package above may use it."""
