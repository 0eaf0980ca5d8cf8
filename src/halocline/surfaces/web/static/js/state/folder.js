// The folder that a person works in: chosen for the next task, or that of the task looked at last. A reload keeps it, and
// so does a new page of a server that was started in the same folder.
import { effect, signal } from '../lib/ui.js'
import { query, standing, welcome } from '../lib/connection.js'
import { draftOf, keepValue } from '../lib/preferences.js'
import { choice, current } from './store.js'
import { listed, rowOf } from './board.js'

/** Where the server was started, and the folder. Another tab does not change this tab's. */
const kept = keepValue('folder', ['', ''])
const startedIn = () => welcome.value?.workspaces[0] || ''

export const folderNow = () => choice.value.workspace || startedIn()
export const chooseFolder = (workspace) => (choice.value = { ...choice.peek(), workspace })

/** The folder as it was seen last, {workspace, git, …}; with a `problem` if it is none, as one that was deleted. */
export const seen = signal({})
let looks = 0

/** Look at the folder. It may change or go while the page is open: in a terminal, by a task. */
export async function lookAtFolder() {
  const workspace = folderNow()
  const mine = ++looks
  if (!workspace || standing.value !== 'open') return
  const [known, git] = await Promise.all([
    query('folders', { path: workspace }).catch((error) => ({ problem: error.text })),
    query('git', { workspace }).catch(() => null),
  ])
  if (mine === looks) seen.value = { workspace, git, ...known }
}

effect(() => {
  const at = startedIn()
  const [before, last] = kept.peek()
  const now = choice.value.workspace
  if (now) kept.value = [at, now]
  else if (at && at === before) chooseFolder(last)
})

effect(() => {
  const task = current.value
  task?.version.value
  const folder = task?.facts.workspace
  // A worktree is its task's own, and a text that waits to be sent stays with the folder it was written for.
  if (folder && listed.value && !rowOf(task.id)?.worktree && !draftOf('new')) chooseFolder(folder)
})
