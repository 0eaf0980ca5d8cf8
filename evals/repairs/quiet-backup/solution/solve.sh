#!/bin/bash
set -e
cat > backup.sh <<'EOF'
#!/bin/bash
# backup.sh SOURCE TARGET: saves each folder in SOURCE as TARGET/NAME.tar.gz.
set -o pipefail
shopt -s nullglob dotglob

source=$1
target=$2
case $source in /*) ;; *) source=./$source ;; esac
case $target in /*) ;; *) target=./$target ;; esac
[ -d "$source" ] || { echo "$1 is not a folder" >&2; exit 2; }
mkdir -p "$target" || exit 2

part=
trap '[ -z "$part" ] || rm -f "$part"' EXIT

save() {
    part=$(mktemp "$target/.part.XXXXXX") || return 1
    if tar -C "$source" -cf - "./$1" | gzip > "$part" && mv -f "$part" "$target/$1.tar.gz"; then
        part=
        return 0
    fi
    rm -f "$part"
    part=
    return 1
}

saved=0
failed=0
for folder in "$source"/*/; do
    folder=${folder%/}
    [ -L "$folder" ] && continue
    name=${folder##*/}
    if save "$name"; then
        saved=$((saved + 1))
    else
        failed=$((failed + 1))
        echo "could not save $name" >&2
    fi
done
echo "$saved saved, $failed failed"
[ "$failed" -eq 0 ]
EOF
