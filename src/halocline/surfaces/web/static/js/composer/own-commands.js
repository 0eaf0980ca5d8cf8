// Your own commands: `!git status`. Run as typed, beside turns; without a task, one is started.
import { send } from '../lib/connection.js'
import { announcement } from '../state/store.js'

/** `begin([])` starts a task without a prompt and returns its id. */
export async function runCommand(command, task, begin) {
  if (!command.trim()) throw new Error('Type a command right after the !, as in !git status')
  await send('run_command', { task: task?.id ?? (await begin([])), command })
  announcement.value = 'Command started'
}
