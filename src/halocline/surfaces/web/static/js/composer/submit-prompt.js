// What Enter does with the composer's text: a command or note of the person's is carried out, an answer goes to its
// question, anything else becomes a prompt. What could not be sent comes back into the field.
import { announcement, complain, toast } from '../state/store.js'
import { answerQuestion, enqueue, steer as steerInto } from '../state/queue.js'
import { remember, setDraft } from '../lib/preferences.js'
import { takesSteering } from '../state/task.js'
import { attachmentsOf } from './composer-menus.js'
import { isNote } from './mentions.js'
import { definePart } from '../lib/parts.js'

const loadAnswer = definePart(() => import('./answer-or-prompt.js'))
const loadSlashCommands = definePart(() => import('./slash-commands.js'))
const loadOwn = definePart(() => import('./own-commands.js'))

const ONE_OF_OURS = /^\/[a-z][\w-]*(\s|$)/i

/** True for text that is a slash command, whether or not there is such a command. */
export const isSlashCommand = (text) => ONE_OF_OURS.test(text)

/**
 * Send the text of a composer; `later` queues it despite a pending request, `yes` approves that with the text as a note.
 * @param {any} composer what `Composer` knows as it is drawn
 */
export async function submitPrompt(composer, steering, { later = false, yes = false } = {}) {
  const { task, id, facts, field, asked, question, isStarting, attaching, menu, writeText } = composer
  steering ||= facts?.parent || (asked && !later) // a sub-agent has only one turn
  const text = field.current.value.trim()
  if (isStarting.current || (!text && !attachmentsOf(id).length)) return
  menu.close()
  if (await carryOut(composer, text)) return
  if (question && !later && !attachmentsOf(id).length)
    return void (writeText(''), remember(text), answerQuestion(task, question.request, text))
  const taken = await attaching.takeParts(text)
  if (!taken)
    return void toast('An attachment is not ready or was rejected. Wait for it or remove it.', { kind: 'error' })
  if (yes && !(await (await loadAnswer()).approveWith(task, asked, text, taken))) return taken.back()
  const clear = () => ((isStarting.current = false), field.current ? writeText('') : setDraft(id, ''))
  if (task) clear()
  else isStarting.current = true // the text stays until it is stored
  if (yes) return void remember(text)
  announcement.value = describeSending(facts, steering, asked)
  try {
    await deliverPrompt(composer, steering, text, taken.parts, clear)
  } catch (error) {
    isStarting.current = false
    complain(error)
    taken.back()
    giveBack(composer, text)
  }
}

/** True if the text was no prompt: a slash command that the page answers, a shell command, a note. */
async function carryOut({ task, facts, choice, workspace, field, given, writeText, onSend }, text) {
  const take = () => (remember(text), writeText(''))
  const putBack = (error) => (complain(error), field.current && writeText(text))
  if (isSlashCommand(text) && (await loadSlashCommands()).answerCommand(text, { task, choice })) take()
  else if (text[0] === '!' && !given) {
    take()
    loadOwn()
      .then((own) => own.runCommand(text.slice(1), task, onSend))
      .catch(putBack)
  } else if (isNote(text) && !given) {
    take()
    loadOwn()
      .then((own) => own.saveNote(text, task ? facts.workspace : workspace))
      .catch(putBack)
  } else return false
  return true
}

function describeSending(facts, steering, asked) {
  if (!facts?.running) return 'Sent'
  if (!steering) return 'Queued'
  return asked ? 'Sent as your answer' : 'Sent to the running turn'
}

async function deliverPrompt({ task, facts, onSend }, steering, text, parts, clear) {
  if (facts?.running && !steering) await enqueue(task, text, parts)
  else if (facts && takesSteering(facts)) await steerInto(task, text, parts)
  else {
    remember(text)
    await onSend([...(text ? [{ type: 'text', text }] : []), ...parts], clear)
  }
}

/** Put a text that was not sent above what was typed since. */
function giveBack({ id, field, writeText }, text) {
  const now = field.current?.value
  if (field.current) writeText(now && now.trim() !== text ? `${text}\n${now}` : text)
  else setDraft(id, text)
}
