script=$PWD/backup.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "FAILED: $1"; exit 1; }

# A tar and a gzip that break where the test says so, after they have written something.
mkdir bin
real_tar=$(command -v tar) real_gzip=$(command -v gzip)
cat > bin/tar <<EOF
#!/bin/bash
case "\$*" in *broken*)
    "$real_tar" "\$@"
    echo "tar: read error" >&2
    exit 2;;
esac
exec "$real_tar" "\$@"
EOF
cat > bin/gzip <<EOF
#!/bin/bash
if [ -e "$work/no-gzip" ]; then echo part; cat > /dev/null; exit 1; fi
exec "$real_gzip" "\$@"
EOF
chmod +x bin/*
run() { PATH="$work/bin:$PATH" bash "$script" "$@" 2> errors > said; code=$?; }
unpacked() { rm -rf out; mkdir out; "$real_tar" -C out -xzf "$1" || fail "cannot unpack $1"; }

mkdir -p 'all/plain/deep' 'all/with  blanks ' 'all/-hyphen' 'all/.hidden' $'all/line\nbreak' 'all/b*[x]' 'all/empty' elsewhere
echo one > all/plain/deep/a.txt
echo two > 'all/with  blanks /b.txt'
echo three > all/-hyphen/c.txt
echo four > all/.hidden/d.txt
echo five > $'all/line\nbreak/e.txt'
echo six > 'all/b*[x]/f.txt'
echo file > all/file.txt
ln -s "$work/elsewhere" all/link

run all 'to here/now'
[ $code -eq 0 ] || fail "exit code $code: $(cat errors)"
[ "$(cat said)" = "7 saved, 0 failed" ] || fail "said: $(cat said)"
[ "$(find 'to here/now' -mindepth 1 -print0 | tr -dc '\0' | wc -c)" -eq 7 ] || fail "number of archives"
unpacked 'to here/now/plain.tar.gz'; [ "$(cat out/plain/deep/a.txt)" = one ] || fail "plain"
unpacked 'to here/now/with  blanks .tar.gz'; [ "$(cat 'out/with  blanks /b.txt')" = two ] || fail "blanks"
unpacked 'to here/now/-hyphen.tar.gz'; [ "$(cat out/-hyphen/c.txt)" = three ] || fail "hyphen"
unpacked 'to here/now/.hidden.tar.gz'; [ "$(cat out/.hidden/d.txt)" = four ] || fail "hidden"
unpacked $'to here/now/line\nbreak.tar.gz'; [ "$(cat $'out/line\nbreak/e.txt')" = five ] || fail "line break"
unpacked 'to here/now/b*[x].tar.gz'; [ "$(cat 'out/b*[x]/f.txt')" = six ] || fail "star"
unpacked 'to here/now/empty.tar.gz'; [ -d out/empty ] || fail "empty folder"

# One breaks: the others are saved, its archive stays.
mkdir some target
mkdir some/a some/broken some/c
echo old > some/broken/x; echo old > some/a/x
"$real_tar" -C some -czf target/broken.tar.gz broken
echo mine > target/notes.txt
before=$(cksum < target/broken.tar.gz)
echo new > some/broken/x; echo new > some/a/x
run some target
[ $code -eq 1 ] || fail "exit code with a failure: $code"
[ "$(cat said)" = "2 saved, 1 failed" ] || fail "with a failure said: $(cat said)"
grep -qx 'could not save broken' errors || fail "the failure is not named"
[ "$(cksum < target/broken.tar.gz)" = "$before" ] || fail "the earlier archive is gone"
[ "$(ls -A target | tr '\n' ' ')" = "a.tar.gz broken.tar.gz c.tar.gz notes.txt " ] || fail "left: $(ls -A target)"
unpacked target/a.tar.gz; [ "$(cat out/a/x)" = new ] || fail "new content"
[ "$(cat target/notes.txt)" = mine ] || fail "someone's file"

rm target/broken.tar.gz
run some target
[ ! -e target/broken.tar.gz ] || fail "half an archive"

touch no-gzip
before=$(cksum < target/a.tar.gz)
run some target
rm no-gzip
[ $code -eq 1 ] && [ "$(cat said)" = "0 saved, 3 failed" ] || fail "without gzip: $code $(cat said)"
[ "$(cksum < target/a.tar.gz)" = "$before" ] || fail "gzip has broken an archive"
[ "$(ls -A target | tr '\n' ' ')" = "a.tar.gz c.tar.gz notes.txt " ] || fail "left by gzip: $(ls -A target)"

mkdir nothing
run nothing target
[ $code -eq 0 ] && [ "$(cat said)" = "0 saved, 0 failed" ] || fail "nothing to save: $code $(cat said)"
run missing target2
[ $code -eq 2 ] && [ ! -s said ] || fail "no source: $code $(cat said)"
run all/file.txt target2
[ $code -eq 2 ] && [ ! -s said ] || fail "a file as source: $code"
run some target/notes.txt/x
[ $code -eq 2 ] && [ ! -s said ] || fail "no target: $code $(cat said)"
