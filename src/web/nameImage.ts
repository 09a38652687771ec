import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import { escapeMarkup } from '../registry/primitives/markup.js'

/** Side of the picture: units of the SVG, pixels of the PNG. The picture is a mirror-symmetric pattern of cells. */
const PICTURE_SIDE = 400
const CELLS_PER_SIDE = 5
const PICTURE_MARGIN = 50
const CELL_SIDE = (PICTURE_SIDE - 2 * PICTURE_MARGIN) / CELLS_PER_SIDE
/** Number of columns that the name's hash decides: the left ones and the middle one. The right ones mirror them. */
const HASHED_COLUMNS = Math.ceil(CELLS_PER_SIDE / 2)

/** Saturation and lightness, percent: first of the ground, then of the cells. */
const PALETTE = [
  { saturation: 45, lightness: 94 },
  { saturation: 60, lightness: 42 },
] as const

/**
 * Hue and cells of a name's picture. The hue is in degrees. `isDrawn` counts rows and columns from 0, and is false
 * outside the pattern.
 */
function patternOf(name: string) {
  const digest = createHash('sha256').update(name).digest()
  return {
    hue: Math.round((digest.readUInt16BE(0) / 65_536) * 360),
    isDrawn: (row: number, column: number): boolean => {
      const mirrored = Math.min(column, CELLS_PER_SIDE - 1 - column)
      const isCell = mirrored >= 0 && row >= 0 && row < CELLS_PER_SIDE
      return isCell && digest[2 + row * HASHED_COLUMNS + mirrored]! % 2 === 1
    },
  }
}

/**
 * The picture of a name as SVG, the same at each call. It has no scripts, styles or references, so every content
 * security policy allows it.
 */
export function nameImage(name: string): string {
  const { hue, isDrawn } = patternOf(name)
  const [ground, drawn] = PALETTE.map(
    ({ saturation, lightness }) => `hsl(${hue},${saturation}%,${lightness}%)`,
  )
  const cells: string[] = []
  for (let row = 0; row < CELLS_PER_SIDE; row++)
    for (let column = 0; column < CELLS_PER_SIDE; column++)
      if (isDrawn(row, column))
        cells.push(
          `M${PICTURE_MARGIN + column * CELL_SIDE} ${PICTURE_MARGIN + row * CELL_SIDE}h${CELL_SIDE}v${CELL_SIDE}h-${CELL_SIDE}z`,
        )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${PICTURE_SIDE} ${PICTURE_SIDE}" width="${PICTURE_SIDE}" height="${PICTURE_SIDE}" role="img">`,
    `<title>${escapeMarkup(name)}</title>`,
    `<rect width="${PICTURE_SIDE}" height="${PICTURE_SIDE}" fill="${ground}"/>`,
    `<path fill="${drawn}" d="${cells.join('')}"/>`,
    '</svg>',
  ].join('')
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
/** Last five bytes of the IHDR chunk: one bit a pixel, colours from a palette, and otherwise zeros (no interlacing). */
const PNG_HEADER_END = Buffer.of(1, 3, 0, 0, 0)

const bigEndianUint32 = (value: number): Buffer =>
  Buffer.from(value.toString(16).padStart(8, '0'), 'hex')

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  return Buffer.concat([bigEndianUint32(data.length), body, bigEndianUint32(crc32(body))])
}

/** Red, green and blue of a colour, 0 to 255 (CSS Color 4). @param hue degrees */
function rgbOf(hue: number, { saturation, lightness }: (typeof PALETTE)[number]): number[] {
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
  const cellAt = (pixel: number) => Math.floor((pixel - PICTURE_MARGIN) / CELL_SIDE)
  const bits = Array.from({ length: PICTURE_SIDE }, (_, y) => {
    // the first byte of a row is its filter type, 0 for none
    const row = Buffer.alloc(1 + PICTURE_SIDE / 8)
    for (let x = 0; x < PICTURE_SIDE; x++)
      if (isDrawn(cellAt(y), cellAt(x))) row[1 + (x >> 3)]! |= 0x80 >> (x & 7)
    return row
  })
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk(
      'IHDR',
      Buffer.concat([bigEndianUint32(PICTURE_SIDE), bigEndianUint32(PICTURE_SIDE), PNG_HEADER_END]),
    ),
    pngChunk('PLTE', Buffer.from(PALETTE.flatMap((colour) => rgbOf(hue, colour)))),
    pngChunk('IDAT', deflateSync(Buffer.concat(bits))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}
