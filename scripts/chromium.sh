#!/bin/sh
# Have a Chromium for the tests of the browser: Debian's, when this is root. Those tests are skipped without one.
# The tests of the page take the one without windows where it can be had: they are quicker in it.
can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }
install() { DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null 2>&1; }

found=
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null && found=$name
done
if [ -z "$found" ] && ! can_install; then
    echo "No Chromium is here: the tests with a browser are skipped. Install chromium to run them."
    exit 1
fi
if can_install && { [ -z "$found" ] || ! command -v chromium-headless-shell >/dev/null; }; then
    echo "Installing Debian's chromium for the tests with a browser."
    apt-get -qq update >/dev/null 2>&1
    [ -n "$found" ] || install chromium fonts-dejavu-core ||
        { echo "It could not be installed: the tests with a browser are skipped."; exit 1; }
    install chromium-headless-shell || true
fi
