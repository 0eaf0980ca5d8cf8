script=$PWD/collect.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "FAILED: $1"; exit 1; }

mkdir -p 'Annual report/deep er' -- '-in'
echo one > 'Annual report/to do  list.txt'
echo two > 'Annual report/deep er/*.txt'
echo three > 'Annual report/-n.txt'
echo four > $'Annual report/line\nbreak.txt'
echo no > 'Annual report/picture.png'
echo five > plain.txt
said=$(bash "$script" 'Annual report' 'the copies') || fail "exit code"
[ "$said" = "4 copied" ] || fail "said: $said"
[ "$(find 'the copies' -type f -print0 | tr -dc '\0' | wc -c)" -eq 4 ] || fail "number of copies"
[ "$(cat 'the copies/to do  list.txt')" = one ] || fail "blanks"
[ "$(cat 'the copies/*.txt')" = two ] || fail "star"
[ "$(cat 'the copies/-n.txt')" = three ] || fail "hyphen"
[ "$(cat $'the copies/line\nbreak.txt')" = four ] || fail "line break"

echo six > ./-in/six.txt
said=$(bash "$script" -in -out) || fail "exit code for hyphens"
[ "$said" = "1 copied" ] || fail "said: $said"
[ "$(cat ./-out/six.txt)" = six ] || fail "folder with a hyphen"
said=$(bash "$script" "$work/Annual report" "$work/absolute one") || fail "absolute"
[ "$said" = "4 copied" ] || fail "absolute: $said"
mkdir empty
[ "$(bash "$script" empty 'none here')" = "0 copied" ] || fail "empty folder"
