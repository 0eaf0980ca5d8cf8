// A command of the person: `!git status`. It runs as they typed it, beside turns; where no task is yet, one begins for it.
import { send } from './line.js'
import { announcement } from './store.js'

/** `begin([])` starts a task without a word to it, and gives its id. */
export async function run(command, task, begin) {
  if (!command.trim())
    throw new Error('There is no command after the exclamation mark. Type it right behind: !git status')
  await send('run_command', { task: task?.id ?? (await begin([])), command })
  announcement.value = 'Your command runs'
}
