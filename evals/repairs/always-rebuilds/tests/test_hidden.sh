work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R . "$work/app" && cd "$work/app" || exit 1
unset MAKEFLAGS MAKELEVEL
fail() { echo "FAILED: $1"; exit 1; }
made() { make --no-print-directory "$@" 2>&1 | grep -E '^(joining|counting)$' | tr '\n' ' '; }

rm -rf out
find . -type f -exec touch -d '2020-01-01' {} +
[ "$(made words)" = "joining counting " ] || fail "first run"
[ "$(cat out/words.txt)" = 12 ] || fail "words: $(cat out/words.txt)"
[ "$(made words)" = "" ] || fail "second run did something"
[ "$(made book)" = "" ] || fail "the book is there"
find out -type f -exec touch -d '2021-01-01' {} +
echo "It rose again." >> chapters/two.txt
[ "$(made words)" = "joining counting " ] || fail "changed chapter"
[ "$(cat out/words.txt)" = 15 ] || fail "words after a change"
find out -type f -exec touch -d '2021-01-01' {} +
touch title.txt
[ "$(made book)" = "joining " ] || fail "changed title"
rm -f out/words.txt
[ "$(made words)" = "counting " ] || fail "missing count"
touch book words clean
[ "$(made words)" = "" ] || fail "with files of these names"
rm out/book.txt
[ "$(made words)" = "joining counting " ] || fail "file called words stands in the way"
make clean > /dev/null && [ ! -e out ] || fail "clean"
