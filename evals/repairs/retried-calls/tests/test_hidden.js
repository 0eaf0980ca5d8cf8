'use strict'
const assert = require('assert')
const path = require('path')
const { Client, CallError } = require(path.resolve('client.js'))

const ok = { status: 200, headers: {}, body: 'fine' }
const status = (number, headers = {}) => ({ status: number, headers, body: '' })

// Calls with these answers in turn (errors are rejections); returns what came of it, the waits and what was sent.
async function play(answers, request = {}) {
  const waits = []
  const sent = []
  const client = new Client(
    async (each) => {
      sent.push(each)
      const answer = answers[Math.min(sent.length, answers.length) - 1]
      if (answer instanceof Error) throw answer
      return answer
    },
    async (time) => void waits.push(time),
  )
  let result
  try {
    result = await client.call(request)
  } catch (error) {
    result = error
  }
  assert(sent.every((each) => each === request))
  return { result, waits, tries: sent.length }
}

async function main() {
  assert.deepStrictEqual(await play([ok]), { result: 'fine', waits: [], tries: 1 })
  assert.deepStrictEqual(await play([status(503), new Error('cut'), ok]), { result: 'fine', waits: [100, 200], tries: 3 })
  for (const number of [429, 502, 503, 504]) assert.strictEqual((await play([status(number), ok])).result, 'fine')
  for (const number of [400, 401, 404, 500, 501]) {
    const { result, waits, tries } = await play([status(number), ok])
    assert(result instanceof CallError && result.status === number && tries === 1 && waits.length === 0)
  }

  const given = await play([status(503), status(502), status(503), status(504)])
  assert(given.result instanceof CallError && given.result.status === 504)
  assert.deepStrictEqual([given.waits, given.tries], [[100, 200, 400], 4])
  const last = new Error('last')
  const cut = await play([status(503), last], { attempts: 2 })
  assert.strictEqual(cut.result, last)
  assert.deepStrictEqual([cut.waits, cut.tries], [[100], 2])
  assert.strictEqual((await play([status(503)], { attempts: 1 })).tries, 1)
  const many = await play([status(503)], { attempts: 8 })
  assert.deepStrictEqual(many.waits, [100, 200, 400, 800, 1600, 2000, 2000])

  const after = await play([status(429, { 'retry-after': '5' }), status(503, { 'retry-after': 'soon' }), status(503, { 'retry-after': '0' }), ok])
  assert.deepStrictEqual(after, { result: 'fine', waits: [5000, 200, 0], tries: 4 })
  const odd = await play([status(429, { 'retry-after': '-1' }), status(429, { 'retry-after': '1.5' }), status(429, { 'retry-after': '' }), ok])
  assert.deepStrictEqual(odd.waits, [100, 200, 400])

  for (const method of ['POST', 'post']) {
    assert.strictEqual((await play([status(503), ok], { method })).result.status, 503)
    assert.strictEqual((await play([last, ok], { method })).result, last)
    assert.strictEqual((await play([status(429), ok], { method })).result, 'fine')
    assert.strictEqual((await play([last, status(503), ok], { method, key: 'k' })).result, 'fine')
  }
  assert.strictEqual((await play([last, ok], { method: 'PUT' })).result, 'fine')

  const plain = new Client(async () => ok)
  assert.strictEqual(await plain.call({}), 'fine')
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
