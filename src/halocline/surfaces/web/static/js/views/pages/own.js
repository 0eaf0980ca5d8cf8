// What only this browser keeps: how the page looks, and when it makes itself heard.
import { html } from '../../ui.js'
import { openSheet } from '../../store.js'
import { notifying, sounding, theme } from '../../prefs.js'
import { ask, chime } from '../../sounds.js'
import { keyOf } from '../../keys.js'
import { Switch } from './form.js'

const THEMES = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

export const OwnPage = () => html`
  <fieldset class="setting">
    <legend>Theme</legend>
    <div class="pick-some">
      ${THEMES.map(
        ([value, text]) => html`<label key=${value} class="pick-one">
          <input type="radio" name="theme" checked=${theme.value === value} onChange=${() => (theme.value = value)} />
          ${' '}${text}
        </label>`,
      )}
    </div>
  </fieldset>
  <div class="setting">
    <div class="setting-head"><span class="label">When a task needs you, or has ended</span></div>
    <p class="soft tiny">Only while you look elsewhere. The title of the window says it in any case.</p>
    <${Switch} label="Notify me" on=${notifying.value} onChange=${(on) => (on ? ask() : (notifying.value = false))} />
    <${Switch} label="With a sound" on=${sounding.value} onChange=${(on) => ((sounding.value = on), on && chime())} />
  </div>
  <div class="setting">
    <div class="setting-head"><span class="label">Keys</span></div>
    <p class="soft tiny">All of them, and how to change those that can be changed.</p>
    <div>
      <button class="button" onClick=${() => openSheet('shortcuts')}>
        Show the keys <kbd>${keyOf('shortcuts')}</kbd>
      </button>
    </div>
  </div>
`
