#!/bin/bash
set -e
cat > csv.js <<'EOF'
'use strict'

// Writes rows of cells as CSV (RFC 4180): each row ends with CRLF.
function write(rows) {
  return rows.map((row) => (row.length === 1 ? quote(row[0]) || '""' : row.map(quote).join(',')) + '\r\n').join('')
}

function quote(cell) {
  const text = String(cell ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// Reads CSV into rows of texts. Rows may end with CRLF or LF, the last one with nothing.
function read(text) {
  const rows = []
  let row = []
  let place = 0
  while (place < text.length || row.length) {
    let cell
    if (text[place] === '"') {
      const found = /"((?:[^"]|"")*)"/y
      found.lastIndex = place
      const match = found.exec(text)
      if (!match) throw new Error('a quotation mark is not closed')
      cell = match[1].replaceAll('""', '"')
      place = found.lastIndex
    } else {
      const found = /(?:[^",\r\n]|\r(?!\n))*/y
      found.lastIndex = place
      cell = found.exec(text)[0]
      place = found.lastIndex
    }
    row.push(cell)
    const end = text.startsWith('\r\n', place) ? 2 : 1
    if (text[place] === ',') {
      place += 1
      continue
    }
    if (place < text.length && end === 1 && text[place] !== '\n') throw new Error('a misplaced quotation mark')
    place += end
    rows.push(row)
    row = []
  }
  return rows
}

module.exports = { read, write }
EOF
