// Icons of buttons and cards: strokes of one width, in the text's color.
import { html } from './ui.js'

const PATHS = {
  menu: 'M4 6h16M4 12h16M4 18h16',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16.5 16.5L21 21',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  file: 'M7 3h7l5 5v13H7zM14 3v5h5',
  edit: 'M4 20l4-1L19 8l-3-3L5 16z',
  terminal: 'M4 5h16v14H4zM7 9l3 3-3 3M13 15h4',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  plug: 'M9 3v5M15 3v5M6 8h12v4a6 6 0 0 1-12 0zM12 18v3',
  check: 'M5 12l5 5L20 7',
  cross: 'M6 6l12 12M18 6L6 18',
  question: 'M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.5',
  chevron: 'M9 6l6 6-6 6',
  down: 'M6 9l6 6 6-6',
  refresh: 'M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 2',
  folder: 'M3 6h6l2 2h10v11H3z',
  back: 'M15 6l-6 6 6 6',
  contrast: 'M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18zM12 3v18M12 8h6M12 12h8.5M12 16h6',
  gear: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M18.4 5.6l-2.2 2.2M7.8 16.2l-2.2 2.2',
  list: 'M9 6h11M9 12h11M9 18h11M4 6h.5M4 12h.5M4 18h.5',
  star: 'M12 4l2.5 5.2 5.5.8-4 4 1 5.6-5-2.7-5 2.7 1-5.6-4-4 5.5-.8z',
  undo: 'M4 9h10a6 6 0 0 1 0 12H9M4 9l4-4M4 9l4 4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.5',
  at: 'M15.5 12a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM15.5 12v1.5a2.5 2.5 0 0 0 5 0V12a8.5 8.5 0 1 0-3.4 6.8',
  slash: 'M15 4L9 20',
  source: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  diff: 'M12 4v8M8 8h8M8 19h8',
  warn: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  spark: 'M12 3l2 7 7 2-7 2-2 7-2-7-7-2 7-2z',
  book: 'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM19 4h-4a2 2 0 0 0-2 2v14a2 2 0 0 1 2-2h4z',
  branch: 'M7 4v12M7 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4M17 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4M17 8c0 5-10 3-10 8',
  more: 'M5 12h.5M12 12h.5M19 12h.5',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  bolt: 'M13 3L5 14h6l-1 7 8-11h-6z',
}

/** A decorative icon, which grows with the text; the button or the text beside it has the label. */
export const Icon = ({ name, size = 18 }) => html`<svg
  width=${size}
  height=${size}
  style=${`width: min(${size / 15}rem, ${1.7 * size}px); height: auto`}
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="1.7"
  stroke-linecap="round"
  stroke-linejoin="round"
  aria-hidden="true"
  focusable="false"
>
  <path d=${PATHS[name]} />
</svg>`
