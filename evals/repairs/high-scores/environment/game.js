'use strict'
const { best, median } = require('./scores')

const results = [
  { player: 'Ada', points: 9 },
  { player: 'Ben', points: 120 },
  { player: 'Cleo', points: 15 },
]
console.log(best(results).join('\n'))
console.log(`median: ${median(results)}`)
