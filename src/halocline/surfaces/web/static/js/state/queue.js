// Messages to a task: answers, and those that wait until its turn ends. The task keeps the latter, for every page
// and surface; after a turn that was stopped or failed, they are held for the person.
import { remember } from '../lib/preferences.js'
import { tell } from './outbox.js'
import { complain } from './store.js'
import { takesSteering } from './task.js'

const contentOf = (text, parts) => [...(text ? [{ type: 'text', text }] : []), ...parts]

/** Queue a prompt until the running turn ends. Rejects if the server refuses it. */
export function enqueue(task, text, parts = []) {
  remember(text)
  return tell(task.id, 'submit_prompt', contentOf(text, parts))
}

/** Send to the running turn, or as the next prompt if that has just ended. Rejects if the server refuses it. */
export function steer(task, text, parts = []) {
  remember(text)
  return tell(task.id, takesSteering(task.facts) ? 'steer' : 'submit_prompt', contentOf(text, parts))
}

const change = (task, type, command) => task.send(type, command).catch(complain)

export const drop = (task, one) => change(task, 'withdraw_queued', { message: one.id })
export const reword = (task, one, text) => change(task, 'edit_queued', { message: one.id, text })
/** Move a message to a place in the queue. */
export const move = (task, one, place) => change(task, 'edit_queued', { message: one.id, place })

/** Send a message now: to the running turn, or as the next prompt. */
export const sendNow = (task, one) => change(task, 'send_queued', { messages: [one.id], steer: true })

/** Send all that is held, in order. */
export const goOn = (task) => change(task, 'send_queued')

/** Continue after a turn that failed or was stopped. No one typed this, so it is a note and no text. */
export const continueTask = (task) =>
  task.send('submit_prompt', {
    content: [{ type: 'note', text: 'Continue where you left off.', source: 'continue' }],
  })

/** Answer a question of the agent. */
export const answerQuestion = (task, request, text) =>
  task.send('answer_question', { request, answer: text }).catch(complain)
