"""A language server that misbehaves on request: every line with BAD is an error, with ODD a warning.

Started as `scripted_server.py MODE FOLDER`; it writes what it heard to FOLDER/heard, its process to FOLDER/pid and one
letter to FOLDER/starts for every start.
"""

import json
import os
import sys
import time
from pathlib import Path

MODE, FOLDER = sys.argv[1], Path(sys.argv[2])
DOCUMENTS = {}


def read():
    size = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(size)) if size else None


def framed(message):
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


def send(message):
    sys.stdout.buffer.write(framed(message))
    sys.stdout.buffer.flush()


def found(text):
    severities = {"BAD": 1, "ODD": 2}
    return [
        {"range": {"start": {"line": row, "character": 0}}, "severity": severities[word], "message": f"{word} is here"}
        for row, line in enumerate(text.split("\n"))
        for word in severities
        if word in line
    ]


def diagnostics(uri, **change):
    document = DOCUMENTS[uri]
    params = {"uri": uri, "version": document["version"], "diagnostics": found(document["text"]), **change}
    return {"method": "textDocument/publishDiagnostics", "params": params}


def publish(uri, **change):
    send(diagnostics(uri, **change))


def told(uri):
    """A text was opened or changed."""
    version = DOCUMENTS[uri]["version"]
    match MODE:
        case "pull":
            pass
        case "silent once known" if version > 1:
            pass
        case "unversioned":
            publish(uri, version=None, diagnostics=[])
            time.sleep(0.05)
            publish(uri, version=None)
        case "stale":
            publish(uri, version=version - 1, diagnostics=found("BAD"))
            time.sleep(0.05)
            publish(uri)
        case "late" if version > 1:
            time.sleep(1.0)
            publish(uri)
        case "dies" if version > 1:
            sys.exit(1)
        case "floods" if version > 1:
            # Of the text before, so that none passes for an answer, however late the flood is noticed.
            flood = framed(diagnostics(uri, version=version - 1, diagnostics=found("BAD\n" * 1000)))
            while True:
                sys.stdout.buffer.write(flood)
        case "rubbish" if version > 1:
            sys.stdout.write("Traceback (most recent call last):\n" * 100)
            sys.stdout.flush()
        case "boasts" if version > 1:
            sys.stdout.write("Content-Length: 99999999999\r\n\r\n")
            sys.stdout.flush()
        case "hangs" if version > 1:
            time.sleep(1000)
        case _:
            publish(uri)


def main():
    (FOLDER / "pid").write_text(str(os.getpid()))
    with open(FOLDER / "starts", "a") as starts:
        starts.write("x")
    (FOLDER / "environment").write_text(json.dumps(dict(os.environ)))
    while (message := read()) is not None:
        with open(FOLDER / "heard", "a") as heard:
            print(message.get("method"), file=heard)
        params = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                if MODE == "never ready":
                    time.sleep(1000)
                abilities = {"diagnosticProvider": {}} if MODE == "pull" else {}
                send({"id": message["id"], "result": {"capabilities": abilities}})
            case "textDocument/didOpen":
                item = params["textDocument"]
                DOCUMENTS[item["uri"]] = {"version": item["version"], "text": item["text"]}
                told(item["uri"])
            case "textDocument/didChange":
                item = params["textDocument"]
                DOCUMENTS[item["uri"]] = {"version": item["version"], "text": params["contentChanges"][0]["text"]}
                told(item["uri"])
            case "textDocument/didClose":
                del DOCUMENTS[params["textDocument"]["uri"]]
            case "textDocument/diagnostic":
                items = found(DOCUMENTS[params["textDocument"]["uri"]]["text"])
                send({"id": message["id"], "result": {"kind": "full", "items": items}})


main()
