'use strict'
const assert = require('assert')
const path = require('path')
const { isIgnored } = require(path.resolve('ignore.js'))

// Rules, what they ignore, what they do not; a slash at the end of a path says that it is a folder.
const cases = [
  ['', '', 'a a/b'],
  ['a.b', 'a.b x/a.b x/y/a.b a.b/ a.b/c', 'axb a.bc xa.b A.B'],
  ['*.log', '.log a.log x/a.log', 'catalogue a.log.txt logs'],
  ['# a\n\n   \n\r\nb', 'b', 'a'],
  ['\\#a\n\\!b', '#a !b', 'a b'],
  ['a  \nb\r\nc \r', 'a b c', 'x'],
  ['/a.txt', 'a.txt', 'x/a.txt'],
  ['docs/a.txt', 'docs/a.txt', 'x/docs/a.txt docs/x/a.txt a.txt'],
  ['build/', 'build/ x/build/ build/a x/build/a/b', 'build x/build'],
  ['/build/', 'build/ build/a', 'build x/build/ x/build/a'],
  ['a/b/', 'a/b/ a/b/c', 'a/b x/a/b/'],
  ['*', 'a a/b .hidden', ''],
  ['a*c', 'ac abc abbc', 'a/c ab cab'],
  ['a?c', 'abc axc aéc', 'ac a/c abbc'],
  ['x/*', 'x/a x/a/b', 'x x/ y/x/a'],
  ['x/*.js', 'x/a.js', 'x/y/a.js'],
  ['[abc].txt', 'a.txt b.txt x/c.txt', 'd.txt .txt ab.txt'],
  ['[a-c][!0-9]', 'ax b- cc', 'a1 dx a'],
  ['a[!b]c', 'axc', 'abc a/c'],
  ['a[b', 'a[b', 'ab a'],
  ['[a.c]', 'a . c', 'b'],
  ['a\\*b', 'a*b', 'axb ab'],
  ['a\\[b]', 'a[b]', 'ab'],
  ['(a|b)+$^{2}', '(a|b)+$^{2}', 'a b'],
  ['**/a', 'a x/a x/y/a', 'xa x/ya'],
  ['**/a/b', 'a/b x/a/b', 'b a/x/b'],
  ['a/**', 'a/b a/b/c', 'a a/ x/a/b'],
  ['a/**/b', 'a/b a/x/b a/x/y/b', 'b ab a/xb axb x/a/b'],
  ['a**b', 'ab axxb x/axb', 'a/b a/x/b'],
  ['x/a**', 'x/a x/ab', 'x/b x/y/a'],
  ['/**/a', 'a x/a', 'b'],
  ['**', 'a a/b', ''],
  ['*.txt\n!keep.txt', 'a.txt x/b.txt', 'keep.txt x/keep.txt'],
  ['!a\na', 'a', 'b'],
  ['a\n!a\na', 'a', 'b'],
  ['build\n!build/keep.txt', 'build/keep.txt build/ build/a', 'keep.txt'],
  ['build/*\n!build/keep.txt', 'build/a build/x/keep.txt', 'build/keep.txt build/'],
  ['/*\n!/src/', 'a src lib/ lib/a', 'src/ src/a src/b/c'],
  ['*\n!*/\n!*.js', 'a x/a.txt', 'a.js x/ x/y/ x/y/a.js'],
  ['x/\n!x/', '', 'x/ x/a x'],
]
for (const [text, ignored, others] of cases) {
  for (const [listed, wanted] of [[ignored, true], [others, false]]) {
    for (const each of listed.split(' ').filter(Boolean)) {
      const isFolder = each.endsWith('/')
      const name = isFolder ? each.slice(0, -1) : each
      assert.strictEqual(isIgnored(text, name, isFolder), wanted, `${JSON.stringify(text)} for ${each}`)
    }
  }
}
for (const text of ['[', '[]', '[!]', '[z-a]', '\\', '!', '/', '//', '***', '(', '[a', '[\\]', '{1', '**/', '!/']) {
  assert.strictEqual(typeof isIgnored(text, 'a/b'), 'boolean', text)
}
