// Ranks what fits typed letters: names that begin so first, then those that hold the letters in this order.
function within(letters, name) {
  let at = 0
  for (const letter of letters) {
    at = name.indexOf(letter, at) + 1
    if (!at) return false
  }
  return true
}

function score(low, name) {
  const base = name.slice(name.replace(/\/$/, '').lastIndexOf('/') + 1)
  if (base.startsWith(low)) return 0
  if (name.startsWith(low)) return 1
  if (base.includes(low)) return 2
  if (name.includes(low)) return 3
  return within(low, name) ? 4 : -1
}

/** The matches in `all` for the typed text, best first; stable among equals. `nameOf` gives the text. */
export function rankAll(typed, all, most, nameOf = (one) => one) {
  const low = typed.toLowerCase()
  if (!low) return all.slice(0, most)
  const heaps = [[], [], [], [], []]
  for (const one of all) {
    const at = score(low, nameOf(one).toLowerCase())
    if (at >= 0 && heaps[at].length < most) heaps[at].push(one)
  }
  return heaps.flat().slice(0, most)
}
