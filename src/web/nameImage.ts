import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import { escapeMarkup } from '../registry/primitives/markup.js'

/** Side of the picture, SVG units or pixels. The picture is a mirror-symmetric pattern of cells. */
const SIDE = 400
const CELLS_PER_SIDE = 5
const MARGIN = 50
const CELL_SIDE = (SIDE - 2 * MARGIN) / CELLS_PER_SIDE
/** Columns that are computed: the left ones and the middle one. The right ones mirror them. */
const DRAWN_COLUMNS = Math.ceil(CELLS_PER_SIDE / 2)

/** Saturation and lightness of the ground and of the cells, percent. */
const COLOURS = [
  { saturation: 45, lightness: 94 },
  { saturation: 60, lightness: 42 },
] as const

/** Hue of a name's picture, degrees, and whether a cell is drawn. False for a cell outside the pattern. */
function patternOf(name: string) {
  const digest = createHash('sha256').update(name).digest()
  return {
    hue: Math.round((digest.readUInt16BE(0) / 65_536) * 360),
    isDrawn: (row: number, column: number): boolean => {
      const mirrored = Math.min(column, CELLS_PER_SIDE - 1 - column)
      const isCell = mirrored >= 0 && row >= 0 && row < CELLS_PER_SIDE
      return isCell && digest[2 + row * DRAWN_COLUMNS + mirrored]! % 2 === 1
    },
  }
}

/**
 * The picture of a name as SVG, always the same. It has no scripts, styles or references, so every content security
 * policy allows it.
 */
export function nameImage(name: string): string {
  const { hue, isDrawn } = patternOf(name)
  const [ground, drawn] = COLOURS.map(
    ({ saturation, lightness }) => `hsl(${hue},${saturation}%,${lightness}%)`,
  )
  const cells: string[] = []
  for (let row = 0; row < CELLS_PER_SIDE; row++)
    for (let column = 0; column < CELLS_PER_SIDE; column++)
      if (isDrawn(row, column))
        cells.push(
          `M${MARGIN + column * CELL_SIDE} ${MARGIN + row * CELL_SIDE}h${CELL_SIDE}v${CELL_SIDE}h-${CELL_SIDE}z`,
        )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIDE} ${SIDE}" width="${SIDE}" height="${SIDE}" role="img">`,
    `<title>${escapeMarkup(name)}</title>`,
    `<rect width="${SIDE}" height="${SIDE}" fill="${ground}"/>`,
    `<path fill="${drawn}" d="${cells.join('')}"/>`,
    '</svg>',
  ].join('')
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
/** End of a PNG header: one bit a pixel, colours from a palette, no interlacing. */
const ONE_BIT_PALETTE = Buffer.of(1, 3, 0, 0, 0)

const uint32Bytes = (value: number): Buffer =>
  Buffer.from(value.toString(16).padStart(8, '0'), 'hex')

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  return Buffer.concat([uint32Bytes(data.length), body, uint32Bytes(crc32(body))])
}

/** Red, green and blue of a colour, 0 to 255 (CSS Color 4). @param hue degrees */
function rgbOf(hue: number, { saturation, lightness }: (typeof COLOURS)[number]): number[] {
  const light = lightness / 100
  const range = (saturation / 100) * Math.min(light, 1 - light)
  return [0, 8, 4].map((offset) => {
    const step = (offset + hue / 30) % 12
    return Math.round(255 * (light - range * Math.max(-1, Math.min(step - 3, 9 - step, 1))))
  })
}

/** The picture of `nameImage` as PNG (ISO/IEC 15948), for sites that show a link as a card and take no SVG. */
export function nameImagePng(name: string): Buffer {
  const { hue, isDrawn } = patternOf(name)
  const cellAt = (pixel: number) => Math.floor((pixel - MARGIN) / CELL_SIDE)
  const bits = Array.from({ length: SIDE }, (_, y) => {
    // each row begins with its filter, 0 for none
    const row = Buffer.alloc(1 + SIDE / 8)
    for (let x = 0; x < SIDE; x++)
      if (isDrawn(cellAt(y), cellAt(x))) row[1 + (x >> 3)]! |= 0x80 >> (x & 7)
    return row
  })
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', Buffer.concat([uint32Bytes(SIDE), uint32Bytes(SIDE), ONE_BIT_PALETTE])),
    pngChunk('PLTE', Buffer.from(COLOURS.flatMap((colour) => rgbOf(hue, colour)))),
    pngChunk('IDAT', deflateSync(Buffer.concat(bits))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}
