'use strict'
const assert = require('assert')
const path = require('path')
const { best, median } = require(path.resolve('scores.js'))

const results = Object.entries({ Ada: 9, Ben: 120, Cleo: 15, Dan: 120, Eve: -3 }).map(([player, points]) => ({ player, points }))
const before = JSON.stringify(results)
const of = (...points) => points.map((number) => ({ player: 'x', points: number }))

assert.deepStrictEqual(best(results), ['Ben: 120', 'Dan: 120', 'Cleo: 15'])
assert.deepStrictEqual(best(results, 5), ['Ben: 120', 'Dan: 120', 'Cleo: 15', 'Ada: 9', 'Eve: -3'])
assert.deepStrictEqual(best([]), [])
assert.strictEqual(median(results), 15)
assert.strictEqual(median(of(100, 20, 3)), 20)
assert.strictEqual(median(of(100, 20, 3, 5)), 12.5)
assert.strictEqual(median(of(-10, -9, 2.5)), -9)
assert.strictEqual(median(of(7)), 7)
assert.strictEqual(median([]), null)
assert.strictEqual(JSON.stringify(results), before)
