#!/bin/sh
# Have a Chromium for the tests of the browser: Debian's, when this is root. Those tests are skipped without one.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "No Chromium is here: the tests with a browser are skipped. Install chromium to run them."
    exit 1
fi
echo "Installing Debian's chromium for the tests with a browser."
{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null ||
    { echo "It could not be installed: the tests with a browser are skipped."; exit 1; }
