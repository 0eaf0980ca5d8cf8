#!/bin/bash
# Judges the project in APP_DIR by the hidden tests beside this file; writes 1 or 0 to reward.txt.
cd "${APP_DIR:-/app}" || exit 1
export TESTS_DIR="${TESTS_DIR:-/tests}" LOGS_DIR="${LOGS_DIR:-/logs/verifier}"
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
mkdir -p "$LOGS_DIR"
if node "$TESTS_DIR/test_hidden.js"; then reward=1; else reward=0; fi
echo "$reward" > "$LOGS_DIR/reward.txt"
