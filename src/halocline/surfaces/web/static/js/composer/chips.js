// Below the text: attachments and mentions with approximate token counts, and warnings for the model.
import { html, useEffect, useMemo, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { attachAgain, chipsIn, files, removeFile } from './attachments.js'
import { modelNamed, loadModels, findSeeing } from '../state/usable-models.js'
import { short, shown, size, tokens, truncate } from '../lib/format.js'
import { LONGEST } from './find-marks.js'
import { isNote } from './mentions.js'
import { Icon } from '../lib/icons.js'
import { Behind } from './marked-text.js'

const REST = 250
const LETTERS = 4 // per token, approximately

/** The text's mentions, queried once typing pauses. */
function useMentioned(task, typed) {
  const [found, setFound] = useState([])
  const asks = Boolean(task) && typed.includes('@') && typed[0] !== '!'
  useEffect(() => {
    if (!asks) return void setFound([])
    let here = true
    const timer = setTimeout(
      () =>
        query('mentioned', { task: task.id, text: typed }).then(
          (all) => here && setFound(all),
          () => {},
        ),
      REST,
    )
    return () => ((here = false), clearTimeout(timer))
  }, [typed, task?.id])
  return found.filter((one) => typed.includes(one.text))
}

const isPicture = (one) => Boolean(one.file?.type.startsWith('image/'))

/** A local preview of an image. */
function usePreview(one) {
  const url = useMemo(() => (isPicture(one) ? URL.createObjectURL(one.file) : ''), [one.file])
  useEffect(() => () => url && URL.revokeObjectURL(url), [url])
  return url
}

function File({ one, place }) {
  const preview = usePreview(one)
  return html`<li class="given">
    ${preview ? html`<img src=${preview} alt="" width="36" height="36" />` : html`<${Icon} name="file" size="16" />`}
    <span class="given-name">
      <span class="cut block">${shown(one.name)}</span>
      <span class=${one.state === 'refused' ? 'bad tiny' : 'soft tiny'}>
        ${one.state === 'sending' ? `Uploading ${size(one.bytes)}…` : one.state === 'refused' ? one.problem : size(one.bytes)}
      </span>
    </span>
    <button class="icon-button small" aria-label=${`Remove ${one.name}`} onClick=${() => removeFile(place, one.key)}>
      <${Icon} name="close" size="14" />
    </button>
  </li>`
}

export default function Chips({ field, task, place, typed, model, where, onModel, onCut }) {
  const given = files.value[place] ?? []
  const texts = chipsIn(place, typed)
  const mentioned = useMentioned(task, typed)
  const pictures = given.some(isPicture)
  const isBlind = modelNamed(model)?.images === false || given.some((one) => isPicture(one) && one.sees === false)
  useEffect(() => {
    if (pictures) loadModels().catch(() => {})
  }, [pictures])
  const known =
    mentioned.reduce((sum, one) => sum + (one.tokens ?? 0), 0) +
    texts.reduce((sum, [, text]) => sum + text.length / LETTERS, 0) +
    typed.length / LETTERS
  const other = isBlind && pictures ? findSeeing() : null
  if (typed[0] === '!' && !given.length)
    return html`<p class="chips soft tiny" role="status">
      <span>
        <${Icon} name="terminal" size="13" /> Enter runs this command without approval and shares its output with your
        next message.
      </span>
    </p>`
  if (isNote(typed) && !given.length)
    return html`<p class="chips soft tiny" role="status">
      <span>
        <${Icon} name="book" size="13" /> Enter saves this as a note for new tasks here. Add a second line to send it as a
        message.
      </span>
    </p>`
  const behind =
    typed.length <= LONGEST &&
    html`<${Behind} field=${field} typed=${typed} known=${mentioned.map((one) => one.text)} />`
  if (!given.length && !texts.length && !mentioned.length && known < 250) return behind
  return html`
    ${behind}
    <div class="chips">
      ${
        pictures &&
        isBlind &&
        html`<p class="blind" role="status">
          <${Icon} name="warn" size="15" />
          <span class="grow">${short(model)} does not accept images; it gets only their names.</span>
          ${
            other &&
            html`<button
              class="button small"
              onClick=${async () => (await onModel(other.name), attachAgain(place, { ...where, model: other.name }))}
            >
              Use ${other.title || short(other.name)}
            </button>`
          }
        </p>`
      }
      <ul class="given-list" aria-label="Attachments">
        ${given.map((one) => html`<${File} key=${one.key} one=${one} place=${place} />`)}
        ${texts.map(
          ([chip, text]) => html`<li class="given" key=${chip} title=${truncate(text, 400)}>
            <${Icon} name="list" size="16" />
            <span class="given-name">
              <span class="cut block">${chip.slice(1, -1)}</span>
              <span class="soft tiny">≈ ${tokens(Math.round(text.length / LETTERS))} tokens</span>
            </span>
            <button class="icon-button small" aria-label=${`Remove ${chip}`} onClick=${() => onCut(chip)}>
              <${Icon} name="close" size="14" />
            </button>
          </li>`,
        )}
        ${mentioned.map(
          (one) => html`<li class="given" key=${one.text} title=${one.what}>
            <${Icon} name=${one.problem ? 'warn' : 'at'} size="15" />
            <span class="given-name">
              <span class="cut block mono">${shown(one.text)}</span>
              <span class=${one.problem ? 'warn tiny' : 'soft tiny'}>
                ${shown(one.what.replace(' (data, not instructions)', ''))}
                ${one.tokens != null ? ` · ≈ ${tokens(one.tokens)} tokens` : ''}
              </span>
            </span>
            <button class="icon-button small" aria-label=${`Remove ${one.text}`} onClick=${() => onCut(one.text)}>
              <${Icon} name="close" size="14" />
            </button>
          </li>`,
        )}
      </ul>
      ${known >= 250 && html`<span class="soft tiny">≈ ${tokens(Math.round(known))} tokens in total</span>`}
    </div>
  `
}
