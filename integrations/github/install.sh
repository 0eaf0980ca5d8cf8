#!/usr/bin/env bash
# Installs Halocline for the job, unless it is there and no version is asked for.
set -euo pipefail

if [ -z "$HALO_VERSION" ] && command -v halo >/dev/null; then
    halo --version
    exit
fi
python3 -m venv "$RUNNER_TEMP/halocline"
"$RUNNER_TEMP/halocline/bin/pip" install --quiet "halocline${HALO_VERSION:+==$HALO_VERSION}"
echo "$RUNNER_TEMP/halocline/bin" >>"$GITHUB_PATH"
