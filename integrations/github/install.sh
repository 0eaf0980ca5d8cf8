#!/usr/bin/env bash
# Installs Halocline for the job from the action's own repository, at the commit that the workflow names, with
# packages that its lock names by hash. Nothing is asked for by the name halocline.
set -euo pipefail

if command -v halo >/dev/null; then
    halo --version
    exit
fi
cd "$GITHUB_ACTION_PATH/../.."
python3 scripts/install.py "$RUNNER_TEMP/halocline" run.lock
echo "$RUNNER_TEMP/halocline/bin" >>"$GITHUB_PATH"
