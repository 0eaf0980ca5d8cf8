'use strict'

// The best results, best first; players with the same points are in the order in which they came.
function best(results, count = 3) {
  return results
    .sort((one, other) => String(other.points).localeCompare(String(one.points)))
    .slice(0, count)
    .map((result) => `${result.player}: ${result.points}`)
}

// The middle of all points; the mean of the two in the middle if their number is even, null if there are none.
function median(results) {
  const points = results.map((result) => result.points).sort()
  return points[Math.floor(points.length / 2)]
}

module.exports = { best, median }
