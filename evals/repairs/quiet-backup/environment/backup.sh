#!/bin/bash
# backup.sh SOURCE TARGET: saves each folder in SOURCE as TARGET/NAME.tar.gz.
set -e

save() {
    local archive="$2/$(basename "$1").tar.gz"
    tar -C "$(dirname "$1")" -cf - "$(basename "$1")" | gzip > "$archive"
}

saved=0
failed=0
mkdir -p "$2"
ls "$1" | while read name; do
    if save "$1/$name" "$2"; then
        saved=$((saved + 1))
    else
        failed=$((failed + 1))
        echo "could not save $name" >&2
    fi
done
echo "$saved saved, $failed failed"
