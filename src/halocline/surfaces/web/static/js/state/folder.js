// The folder that a person works in: chosen for the next task, or that of the task looked at last. A reload keeps it, and
// so does a new page of a server that was started in the same folder.
import { effect } from '../lib/ui.js'
import { welcome } from '../lib/connection.js'
import { draftOf, keepValue } from '../lib/preferences.js'
import { choice, current } from './store.js'
import { listed, rowOf } from './board.js'

/** Where the server was started, and the folder. Another tab does not change this tab's. */
const kept = keepValue('folder', ['', ''])
const startedIn = () => welcome.value?.workspaces[0] || ''

export const folderNow = () => choice.value.workspace || startedIn()
export const chooseFolder = (workspace) => (choice.value = { ...choice.peek(), workspace })

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
