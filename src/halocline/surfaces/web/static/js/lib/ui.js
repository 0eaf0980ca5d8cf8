// The only module that names the view libraries: htm templates, hooks, signals.
import { h, render, Component, Fragment, createRef } from '../../vendor/preact.js'
import htm from '../../vendor/htm.js'
import { loadStyle } from './parts.js'

export const html = htm.bind(h)
export { h, render, Component, Fragment, createRef }
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback } from '../../vendor/hooks.js'
export { signal, computed, effect, batch, untracked } from '../../vendor/signals.js'

/** Join the truthy class names. */
export const classes = (...names) => names.filter(Boolean).join(' ')

/** The address of a file of this version of the page. */
export const fileAddress = (path) => new URL(path, window.early.base).href

/** Load a lazy view's stylesheet; resolves once it is applied or failed. */
export const style = (path) => loadStyle(fileAddress(path))
