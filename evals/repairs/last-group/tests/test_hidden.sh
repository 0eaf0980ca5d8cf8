expect() {
    found=$(printf "$1" | awk -f totals.awk) || { echo "FAILED: awk"; exit 1; }
    [ "$found" = "$(printf "$2")" ] || { echo "FAILED: $1 gave: $found"; exit 1; }
}
expect 'project hours\n# January\ngarden 2.5\ngarden 1\n\nhouse 4\n' 'garden: 3.5\nhouse: 4.0'
expect 'project hours\na 1\n' 'a: 1.0'
expect 'project hours\na 1\na 2\nb 0.25\nb 0.5\nc 10\n' 'a: 3.0\nb: 0.8\nc: 10.0'
expect 'project hours\n' ''
expect '' ''
expect 'project hours\n\n# only a word\n' ''
expect 'project hours\na 1\n# a 5\n\na 2\n' 'a: 3.0'
