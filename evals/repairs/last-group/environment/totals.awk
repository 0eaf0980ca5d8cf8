# Sums hours by project. Input: lines "project hours", sorted by project, below one line of headings.
# Empty lines and lines that begin with # do not count. Output: "project: hours" with one decimal for each project.
$1 != project {
    if (project != "") printf "%s: %.1f\n", project, sum
    project = $1
    sum = 0
}
{ sum += $2 }
