'use strict'

// Writes rows of cells as CSV (RFC 4180): each row ends with CRLF.
function write(rows) {
  return rows.map((row) => row.map((cell) => (String(cell).includes(',') ? `"${cell}"` : cell)).join(',') + '\r\n').join('')
}

// Reads CSV into rows of texts. Rows may end with CRLF or LF, the last one with nothing.
function read(text) {
  return text
    .split('\n')
    .filter((line) => line)
    .map((line) => line.split(',').map((cell) => cell.replace(/^"|"$/g, '')))
}

module.exports = { read, write }
