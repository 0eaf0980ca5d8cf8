"""Test kit that is shipped: a model server for each wire format, a proxy server, and faults at writes."""
