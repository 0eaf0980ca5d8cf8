"""An MCP server over pipes that offers and answers exactly what a JSON file says, valid or not."""

import json
import sys


def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        told = json.load(file)
    for line in sys.stdin:
        message = json.loads(line)
        number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if number is None or method is None:
            continue
        if method == "initialize":
            about = {"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "told", "version": "1"}}
            result = {**about, "capabilities": {"tools": {}}}
        elif method == "tools/list":
            result = {"tools": told["tools"]}
        elif method == "tools/call":
            echo = {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}
            result = told.get("results", {}).get(params["name"], echo)
        else:
            say(id=number, error={"code": -32601, "message": "no"})
            continue
        say(id=number, result=result)


if __name__ == "__main__":
    main()
