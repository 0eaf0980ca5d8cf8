// Notes: `# we use tabs here`. New tasks in the folder get it; the running one does not.
import { act, query } from '../lib/connection.js'
import { complain, toast } from '../state/store.js'

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
