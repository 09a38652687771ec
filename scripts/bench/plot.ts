/** A line of a plot. */
export interface Series {
  name: string
  /** [x, y], from left to right. */
  points: readonly (readonly [number, number])[]
}

export interface Plot {
  title: string
  x: string
  y: string
  /** Axes in powers of ten; the others begin at 0. */
  isLogX?: boolean
  isLogY?: boolean
  series: readonly Series[]
}

const [WIDTH, HEIGHT] = [720, 360]
const [LEFT, RIGHT, TOP, BOTTOM] = [70, 230, 40, 50]
/** Readable on white as on black. */
const COLOURS = ['#3b82f6', '#e0662f', '#2fa36b', '#b45fd6', '#c2941f', '#d6455d', '#6b8e9e']
const STYLE = `text{font:12px system-ui,sans-serif;fill:#333}line{stroke:#8884}polyline{fill:none;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#ddd}}`

interface Axis {
  /** Share of the axis at which a value stands, 0 to 1. */
  at(value: number): number
  ticks: number[]
}

/** An SVG of lines, each named at its last point. */
export function drawPlot({ title, x, y, isLogX = false, isLogY = false, series }: Plot): string {
  const points = series.flatMap((one) => one.points)
  const horizontal = axisOf(
    points.map(([value]) => value),
    isLogX,
  )
  const vertical = axisOf(
    points.map(([, value]) => value),
    isLogY,
  )
  const px = (value: number) => (LEFT + horizontal.at(value) * (WIDTH - LEFT - RIGHT)).toFixed(1)
  const py = (value: number) => (HEIGHT - BOTTOM - vertical.at(value) * (HEIGHT - TOP - BOTTOM)).toFixed(1)
  const labels = apart(series.map(({ points: own }) => Number(py(own.at(-1)![1]))))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>${title}</title><style>${STYLE}</style>`,
    text(LEFT, 20, title, 'font-weight="bold"'),
    ...horizontal.ticks.map((tick) => text(px(tick), HEIGHT - BOTTOM + 18, shown(tick), 'text-anchor="middle"')),
    ...vertical.ticks.map(
      (tick) =>
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${py(tick)}" y2="${py(tick)}"/>${text(LEFT - 6, Number(py(tick)) + 4, shown(tick), 'text-anchor="end"')}`,
    ),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x, 'text-anchor="middle"'),
    text(0, 0, y, `text-anchor="middle" transform="translate(16 ${HEIGHT / 2}) rotate(-90)"`),
    ...series.map(({ name, points: own }, i) => {
      const colour = COLOURS[i % COLOURS.length]!
      const dots = own.map(([a, b]) => `<circle cx="${px(a)}" cy="${py(b)}" r="3" fill="${colour}"/>`).join('')
      const line = `<polyline stroke="${colour}" points="${own.map(([a, b]) => `${px(a)},${py(b)}`).join(' ')}"/>`
      return `${line}${dots}${text(Number(px(own.at(-1)![0])) + 8, labels[i]! + 4, name, `style="fill:${colour}"`)}`
    }),
    '</svg>\n',
  ].join('\n')
}

function axisOf(values: readonly number[], isLog: boolean): Axis {
  if (isLog) {
    const low = Math.floor(Math.log10(Math.min(...values)))
    const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
    const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
    return { at: (value) => (Math.log10(value) - low) / (high - low), ticks }
  }
  const most = Math.max(...values)
  const unit = 10 ** Math.floor(Math.log10(most))
  const step = [0.2, 0.5, 1, 2].map((n) => n * unit).find((n) => most / n <= 6)!
  const count = Math.ceil(most / step)
  return { at: (value) => value / (step * count), ticks: Array.from({ length: count + 1 }, (_, i) => i * step) }
}

/** Heights of labels that would cover one another, moved down. */
function apart(heights: readonly number[]): number[] {
  const moved: number[] = []
  const order = heights.map((_, i) => i).sort((a, b) => heights[a]! - heights[b]!)
  let free = 0
  for (const i of order) {
    moved[i] = Math.max(heights[i]!, free)
    free = moved[i]! + 15
  }
  return moved
}

const shown = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en-US')

const text = (x: number | string, y: number, content: string, more = ''): string =>
  `<text x="${x}" y="${y}" ${more}>${content.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</text>`
