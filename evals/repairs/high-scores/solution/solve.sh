#!/bin/bash
set -e
cat > scores.js <<'EOF'
'use strict'

// The best results, best first; players with the same points are in the order in which they came.
function best(results, count = 3) {
  return [...results]
    .sort((one, other) => other.points - one.points)
    .slice(0, count)
    .map((result) => `${result.player}: ${result.points}`)
}

// The middle of all points; the mean of the two in the middle if their number is even, null if there are none.
function median(results) {
  const points = results.map((result) => result.points).sort((one, other) => one - other)
  if (points.length === 0) return null
  const middle = Math.floor(points.length / 2)
  return points.length % 2 ? points[middle] : (points[middle - 1] + points[middle]) / 2
}

module.exports = { best, median }
EOF
