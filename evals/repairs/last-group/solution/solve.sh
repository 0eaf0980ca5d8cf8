#!/bin/bash
set -e
cat > totals.awk <<'EOF'
# Sums hours by project. Input: lines "project hours", sorted by project, below one line of headings.
# Empty lines and lines that begin with # do not count. Output: "project: hours" with one decimal for each project.
NR == 1 || NF == 0 || /^#/ { next }
$1 != project {
    show()
    project = $1
    sum = 0
}
{ sum += $2 }
END { show() }

function show() {
    if (project != "") printf "%s: %.1f\n", project, sum
}
EOF
