// The usable models, loaded once and again when the picker opens.
import { signal } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { favouriteModels, recentModels } from '../lib/preferences.js'

export const models = signal(null)
let asking = null

/** The usable models. The first answer is cached; `renewed` loads them again. */
export function loadModels(renewed = false) {
  if (models.peek() && !renewed) return Promise.resolve(models.peek())
  asking ??= query('models')
    .then((found) => (models.value = found))
    .finally(() => (asking = null))
  return asking
}

export const modelNamed = (name) => models.value?.find((one) => one.name === name) ?? null

/** A model that accepts images: a favorite, a recent one, or the first. */
export function findSeeing() {
  const all = (models.value ?? []).filter((one) => one.images && !one.leaving)
  const known = [...favouriteModels.value, ...recentModels.value].map((name) => all.find((one) => one.name === name))
  return known.find(Boolean) ?? all[0] ?? null
}
