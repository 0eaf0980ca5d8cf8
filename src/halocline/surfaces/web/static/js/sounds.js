// What notifying needs of the browser: its leave, and a sound. Fetched by whoever wants to be notified.
import { notifying } from './prefs.js'
import { toast } from './store.js'

/** Ask the browser for leave to notify; from a click. */
export async function ask() {
  if (!('Notification' in window) || !window.isSecureContext)
    return void toast('This browser cannot notify at this address.', { kind: 'error' })
  const answer = Notification.permission === 'granted' ? 'granted' : await Notification.requestPermission()
  notifying.value = answer === 'granted'
  toast(
    answer === 'granted'
      ? 'You are notified when a task needs you or ends while you look elsewhere.'
      : 'The browser does not allow notifications here. Allow them beside its address, and try again.',
    { kind: answer === 'granted' ? 'info' : 'error' },
  )
}

let audio = null
/** Two short tones; no file has to be there for it. */
export function chime() {
  try {
    audio ??= new AudioContext()
    for (const [at, pitch] of [
      [0, 660],
      [0.13, 880],
    ]) {
      const tone = new OscillatorNode(audio, { frequency: pitch })
      const loud = new GainNode(audio, { gain: 0 })
      const begin = audio.currentTime + at
      loud.gain.linearRampToValueAtTime(0.08, begin + 0.01)
      loud.gain.exponentialRampToValueAtTime(0.0001, begin + 0.25)
      tone.connect(loud).connect(audio.destination)
      tone.start(begin)
      tone.stop(begin + 0.3)
    }
  } catch {
    // No sound here.
  }
}
