'use strict'
const assert = require('assert')
const path = require('path')
const { read, write } = require(path.resolve('csv.js'))

const writes = [
  [[['a', 'b']], 'a,b\r\n'],
  [[['a,b', 'c']], '"a,b",c\r\n'],
  [[['say "hi"', 1]], '"say ""hi""",1\r\n'],
  [[['a\nb'], ['c\rd']], '"a\nb"\r\n"c\rd"\r\n'],
  [[[null, undefined, 0, false]], ',,0,false\r\n'],
  [[['']], '""\r\n'],
  [[[' a ', '']], ' a ,\r\n'],
  [[], ''],
]
for (const [rows, text] of writes) assert.strictEqual(write(rows), text)

const reads = [
  ['a,b\r\nc,d\r\n', [['a', 'b'], ['c', 'd']]],
  ['a,b\nc,d', [['a', 'b'], ['c', 'd']]],
  ['"a,b",c\n', [['a,b', 'c']]],
  ['"say ""hi""",""\r\n', [['say "hi"', '']]],
  ['"a\r\nb",c\r\n', [['a\r\nb', 'c']]],
  ['a,\n', [['a', '']]],
  ['a,', [['a', '']]],
  [',\r\n', [['', '']]],
  ['a\n\nb\n', [['a'], [''], ['b']]],
  ['', []],
  ['\n', [['']]],
  ['""\r\n', [['']]],
  ['""""', [['"']]],
  [' a , b', [[' a ', ' b']]],
  ['a\rb,c\n', [['a\rb', 'c']]],
]
for (const [text, rows] of reads) assert.deepStrictEqual(read(text), rows, JSON.stringify(text))

for (const text of ['"a', 'a,"b', '"a"b', '"a" ,b', 'a"b', 'a,b"\n', '"a""', ' "a"']) {
  assert.throws(() => read(text), Error, text)
}

const rows = [['name', 'note'], ['Ada', 'a, "b"\r\n,c\n'], ['', ''], ['"', ',']]
assert.deepStrictEqual(read(write(rows)), rows)
