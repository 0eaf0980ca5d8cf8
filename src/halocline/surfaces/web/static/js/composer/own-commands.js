// Your own commands: `!git status`. Run as typed, beside turns; without a task, one is started.
// Notes: `# we use tabs here`. New tasks in the folder get it; the running one does not.
import { act, query, send } from '../lib/connection.js'
import { announcement, complain, toast } from '../state/store.js'

/** `begin([])` starts a task without a prompt and returns its id. */
export async function runCommand(command, task, begin) {
  if (!command.trim()) throw new Error('Type a command right after the !, as in !git status')
  await send('run_command', { task: task?.id ?? (await begin([])), command })
  announcement.value = 'Command started'
}

/** Save a note, with undo. */
export async function saveNote(typed, workspace) {
  const text = typed.replace(/^# +/, '')
  await act('memory_keep', { workspace, text })
  toast('Note saved. New tasks in this folder will use it.', {
    undo: () => removeNote(text, workspace).catch(complain),
  })
}

async function removeNote(text, workspace) {
  const { files } = await query('memory', { workspace })
  const said = text.split(/\s+/).join(' ').trim()
  const note = files.flatMap((file) => file.notes).findLast((one) => one.text === said)
  if (note) await act('memory_remove', { workspace, number: note.number })
  toast(note ? 'Note removed.' : 'The note no longer exists.')
}
