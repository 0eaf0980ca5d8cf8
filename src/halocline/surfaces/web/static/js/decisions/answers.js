// Sends answers to the agent's questions.
import { complain } from '../state/store.js'

export const answerQuestion = (task, request, text) =>
  task.send('answer_question', { request, answer: text }).catch(complain)
