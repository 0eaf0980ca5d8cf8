'use strict'

// Says whether a path is ignored by the text of a rule file; RULES.md says how.
// A path has no slash at its beginning or end; isFolder says what it is.
function isIgnored(text, path, isFolder = false) {
  const patterns = text.split('\n').filter((line) => line && !line.startsWith('#'))
  return patterns.some((pattern) => new RegExp(pattern.replaceAll('*', '.*')).test(path))
}

module.exports = { isIgnored }
