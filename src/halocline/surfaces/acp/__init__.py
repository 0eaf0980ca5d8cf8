"""The Agent Client Protocol (ACP): tasks inside editors that speak it, over stdin and stdout.

Specified at https://agentclientprotocol.com; version 1 on the wire, with the official SDK (extra `[acp]`).
"""
