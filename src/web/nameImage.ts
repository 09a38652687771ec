import { createHash } from 'node:crypto'
import { escapeMarkup } from '../registry/primitives/markup.js'

/** Side of the picture in SVG units. The picture is a mirror-symmetric pattern of cells. */
const SIDE = 400
const CELLS = 5
const MARGIN = 50
const CELL = (SIDE - 2 * MARGIN) / CELLS
/** Columns that are computed: the left ones and the middle one. The right ones mirror them. */
const DRAWN_COLUMNS = Math.ceil(CELLS / 2)

/** A deterministic SVG. It has no scripts, styles or references, so every content security policy allows it. */
export function nameImage(name: string): string {
  const digest = createHash('sha256').update(name).digest()
  const hue = Math.round((digest.readUInt16BE(0) / 65_536) * 360)
  const cells: string[] = []
  for (let row = 0; row < CELLS; row++) {
    for (let column = 0; column < DRAWN_COLUMNS; column++) {
      if ((digest[2 + row * DRAWN_COLUMNS + column] ?? 0) % 2 === 0) continue
      for (const x of new Set([column, CELLS - 1 - column]))
        cells.push(`M${MARGIN + x * CELL} ${MARGIN + row * CELL}h${CELL}v${CELL}h-${CELL}z`)
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIDE} ${SIDE}" width="${SIDE}" height="${SIDE}" role="img">`,
    `<title>${escapeMarkup(name)}</title>`,
    `<rect width="${SIDE}" height="${SIDE}" fill="hsl(${hue},45%,94%)"/>`,
    `<path fill="hsl(${hue},60%,42%)" d="${cells.join('')}"/>`,
    '</svg>',
  ].join('')
}
