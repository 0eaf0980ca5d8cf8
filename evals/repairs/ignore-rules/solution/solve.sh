#!/bin/bash
set -e
cat > ignore.js <<'EOF'
'use strict'

// Says whether a path is ignored by the text of a rule file; RULES.md says how.
// A path has no slash at its beginning or end; isFolder says what it is.
function isIgnored(text, path, isFolder = false) {
  const rules = text.split('\n').map(readRule).filter(Boolean)
  const parts = path.split('/')
  return parts.some((_, index) => {
    const isWhole = index === parts.length - 1
    return decide(rules, parts.slice(0, index + 1).join('/'), isWhole ? isFolder : true)
  })
}

function decide(rules, path, isFolder) {
  let ignored = false
  for (const rule of rules) {
    if ((isFolder || !rule.onlyFolders) && rule.expression.test(path)) ignored = !rule.takesBack
  }
  return ignored
}

function readRule(line) {
  let pattern = line.replace(/\r$/, '').replace(/ +$/, '')
  if (!pattern || pattern.startsWith('#')) return null
  const takesBack = pattern.startsWith('!')
  if (takesBack) pattern = pattern.slice(1)
  const onlyFolders = pattern.endsWith('/')
  if (onlyFolders) pattern = pattern.slice(0, -1)
  if (!pattern) return null
  const isRooted = pattern.includes('/')
  if (pattern.startsWith('/')) pattern = pattern.slice(1)
  const source = (isRooted ? '' : '(?:.*/)?') + translate(pattern)
  return { takesBack, onlyFolders, expression: new RegExp(`^${source}$`, 'su') }
}

function translate(pattern) {
  const parts = pattern.split('/')
  let source = ''
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1
    if (part === '**' && parts.length > 1) source += isLast ? '.+' : '(?:.*/)?'
    else source += translatePart(part) + (isLast ? '' : '/')
  })
  return source
}

function translatePart(part) {
  const characters = [...part]
  let source = ''
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index]
    if (character === '*') source += '[^/]*'
    else if (character === '?') source += '[^/]'
    else if (character === '\\' && index + 1 < characters.length) source += quote(characters[++index])
    else if (character === '[') {
      const isNot = characters[index + 1] === '!'
      const start = index + (isNot ? 2 : 1)
      const end = characters.indexOf(']', start + 1)
      if (end < 0) source += quote('[')
      else {
        source += readClass(characters.slice(start, end), isNot)
        index = end
      }
    } else source += quote(character)
  }
  return source
}

function readClass(characters, isNot) {
  const ranges = []
  for (let index = 0; index < characters.length; index++) {
    if (characters[index + 1] === '-' && index + 2 < characters.length) {
      const [first, last] = [characters[index], characters[index + 2]]
      if (first.codePointAt(0) <= last.codePointAt(0)) ranges.push(`${quote(first)}-${quote(last)}`)
      index += 2
    } else ranges.push(quote(characters[index]))
  }
  if (isNot) return `[^/${ranges.join('')}]`
  return ranges.length ? `(?!/)[${ranges.join('')}]` : '(?!)'
}

function quote(character) {
  return `\\u{${character.codePointAt(0).toString(16)}}`
}

module.exports = { isIgnored }
EOF
