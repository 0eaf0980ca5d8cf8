"""An MCP server over pipes with one tool, `note`, for the approvals that `benchmarks.terminal` measures."""

import json
import sys

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOL = {"name": "note", "description": "Keep a note.", "inputSchema": TEXT}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        results = {
            "initialize": {
                "protocolVersion": message.get("params", {}).get("protocolVersion"),
                "serverInfo": {"name": "numbers", "version": "1"},
                "capabilities": {"tools": {}},
            },
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "kept"}]},
        }
        if "id" in message:
            result = results.get(message["method"], {})
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
