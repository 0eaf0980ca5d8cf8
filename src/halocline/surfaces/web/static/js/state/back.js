// The browser's Back closes what lies over the page: a dialog, or the drawer of a narrow screen. It has an entry of its own
// in the history, at the same address. If it is closed in another way that entry stays, and Back passes over it.

/** What closes each thing that lies over the page, the top one last. */
const covers = []
const past = window.history
/** The number of the entry that the page is at, if it is one of these. */
let over = past.state?.over

function enter() {
  if (past.state?.over || window.early.isEditor) return // an editor has no history
  over = Date.now()
  past.replaceState({ below: over }, '')
  past.pushState({ over }, '')
}

addEventListener('popstate', () => {
  const left = over
  over = past.state?.over
  if (!left || past.state?.below !== left) return
  if (!covers.length) return past.back()
  covers.at(-1)()
  if (covers.length > 1) enter()
})
addEventListener('hashchange', () => (over = past.state?.over))

/** Have Back call this, which closes something that was just opened. Returns what to call once that is gone. */
export function closeOnBack(close) {
  covers.push(close)
  enter()
  return () => void covers.splice(covers.indexOf(close), 1)
}
