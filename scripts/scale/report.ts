import { mkdirSync, writeFileSync } from 'node:fs'
import { printTable, thousands } from '../bench/bench.js'
import { writeTable } from '../bench/page.js'
import { drawPlot, type Series } from '../bench/plot.js'
import type { Explained, Sized } from './buffers.js'
import { costModel } from './costModel.js'
import type { Loaded } from './load.js'
import type { Measured } from './measure.js'
import type { Registry } from './registries.js'
import type { Answered, Layout, Times } from './simulate.js'
import type { Written } from './writes.js'

/** Tables and plots of docs/scale.md. */

const DOCS = new URL('../../docs/', import.meta.url)

/** All that a run measures, in the order of the registries. */
export interface Measurements {
  registries: Omit<Registry, 'databaseUrl'>[]
  measured: Measured[]
  explained: [title: string, at: Explained[]][]
  sizes: Sized[][]
  writes: Written[]
  loaded: Loaded[]
}

/** What the model says. */
export interface Simulated {
  times: Times
  compared: { connections: number; measured: Loaded; model: Answered }[]
  scaled: { layout: Layout; answered: Answered }[]
}

export type Results = Measurements & Simulated

type Table = readonly (readonly string[])[]

/** Prints tables and writes them into `scale.md` of a folder, plots beside it. */
export function report(results: Results, machine: string, folder = DOCS): void {
  const plots = new URL('scale/', folder)
  mkdirSync(plots, { recursive: true })
  const tables: Record<string, Table> = {
    registries: registriesOf(results),
    reads: readsOf(results),
    buffers: buffersOf(results),
    sizes: sizesOf(results),
    writes: writesOf(results),
    model: comparedOf(results),
    replicas: scaledOf(results),
    costs: costModel(results),
  }
  for (const [mark, table] of Object.entries(tables)) {
    console.log(`\n${mark}`)
    printTable(table)
    writeTable(mark, machine, table, new URL('scale.md', folder))
  }
  for (const [name, plot] of Object.entries(plotsOf(results)))
    writeFileSync(new URL(`${name}.svg`, plots), drawPlot(plot))
}

const headOf = ({ registries }: Results): string[] => ['', ...registries.map(({ size }) => `${thousands(size)} names`)]
const ratio = (value: number, to: number): string => (value / to).toFixed(2)

function registriesOf(results: Results): Table {
  const { registries } = results
  const row = (title: string, of: (one: Results['registries'][number]) => number, digits = 0) => [
    title,
    ...registries.map((one) => (digits ? of(one).toFixed(digits) : thousands(of(one)))),
  ]
  return [
    headOf(results),
    row('names', ({ names }) => names),
    row('clusters', ({ clusters }) => clusters),
    row('wallets', ({ wallets }) => wallets),
    row('entries of the journal', ({ entries }) => entries),
    row('events', ({ events }) => events),
    row('rows, s', ({ rowsS }) => rowsS, 1),
    row('indexes, s', ({ indexesS }) => indexesS, 1),
  ]
}

function readsOf(results: Results): Table {
  const { registries, measured } = results
  const largest = registries.length - 1
  const ofLeast = (those: Measured['latencies']) => ratio(those[largest]!.p50, those[0]!.p50)
  return [
    [
      ...headOf(results).map((text) => (text ? `${text}, ms` : '')),
      'p50, of the least',
      'asked again, ms',
      'of the least',
    ],
    ...measured.map(({ title, latencies, again }) => [
      title,
      ...latencies.map(({ p50, p99 }) => `${p50.toFixed(2)} (${p99.toFixed(1)})`),
      ofLeast(latencies),
      again ? again[largest]!.p50.toFixed(2) : '',
      again ? ofLeast(again) : '',
    ]),
  ]
}

function buffersOf(results: Results): Table {
  return [
    headOf(results),
    ...results.explained.map(([title, at]) => [
      title,
      ...at.map(({ pages, read, ms }) => `${thousands(pages)} (${thousands(read)}), ${ms.toFixed(2)} ms`),
    ]),
  ]
}

function sizesOf({ sizes, registries }: Results): Table {
  const [tables, { names }] = [sizes.at(-1)!, registries.at(-1)!]
  const perName = (bytes: number) => (bytes / names).toFixed(1)
  const sum = (of: (table: Sized) => number) => tables.reduce((total, table) => total + of(table), 0)
  const indexesOf = (table: Sized) => table.indexes.reduce((total, { bytes }) => total + bytes, 0)
  return [
    [`${thousands(names)} names`, 'rows', 'bytes', 'bytes a row', 'bytes a name'],
    ...tables
      .filter(({ heap, rows }) => heap > 1 << 20 && rows > 0)
      .flatMap((table) => [
        [
          `**${table.table}**`,
          thousands(table.rows),
          thousands(table.heap),
          (table.heap / table.rows).toFixed(1),
          perName(table.heap),
        ],
        ...table.indexes
          .filter(({ bytes }) => bytes > 1 << 20)
          .map(({ name, bytes }) => [
            `index ${name}`,
            '',
            thousands(bytes),
            (bytes / table.rows).toFixed(1),
            perName(bytes),
          ]),
      ]),
    ['all rows', '', thousands(sum(({ heap }) => heap)), '', perName(sum(({ heap }) => heap))],
    ['all indexes', '', thousands(sum(indexesOf)), '', perName(sum(indexesOf))],
  ]
}

const writesOf = (results: Results): Table => [
  headOf(results),
  ['registrations a second', ...results.writes.map(({ perS }) => thousands(perS))],
  ['bytes of WAL for each', ...results.writes.map(({ walBytes }) => thousands(walBytes))],
]

const comparedOf = ({ compared }: Results): Table => [
  [
    'connections',
    'measured, a second',
    'model',
    'measured p50, ms',
    'model',
    'measured p99, ms',
    'model',
    'keys a statement',
  ],
  ...compared.map(({ connections, measured, model }) => [
    String(connections),
    ...[thousands(measured.perS), thousands(model.perS), measured.p50.toFixed(1), model.p50.toFixed(1)],
    ...[measured.p99.toFixed(1), model.p99.toFixed(1), model.together.toFixed(1)],
  ]),
]

const scaledOf = ({ scaled }: Results): Table => [
  ['processes of the API', 'databases', 'connections', 'a second', 'p50, ms', 'p99, ms', 'keys a statement'],
  ...scaled.map(({ layout, answered }) => [
    ...[String(layout.processes), String(layout.databases), thousands(layout.connections), thousands(answered.perS)],
    ...[answered.p50.toFixed(2), answered.p99.toFixed(2), answered.together.toFixed(1)],
  ]),
]

function plotsOf(results: Results) {
  const { registries, measured, explained, scaled } = results
  const isOfFeed = (title: string) => title.includes('/v1/events')
  const line = (name: string, values: readonly number[]): Series => ({
    name,
    points: values.map((value, i) => [registries[i]!.size, value]),
  })
  const medians = (those: readonly Measured[]) =>
    those.map(({ title, latencies }) =>
      line(
        title.replace('/v1/', ''),
        latencies.map(({ p50 }) => p50),
      ),
    )
  const isBulk = (title: string) => /1,000|page/.test(title)
  const x = { x: 'names', isLogX: true }
  const databases = [...new Set(scaled.map(({ layout }) => layout.databases))]
  return {
    one: {
      ...x,
      title: 'Median of requests about one thing',
      y: 'ms',
      series: medians(measured.filter(({ title }) => !isBulk(title))),
    },
    many: {
      ...x,
      title: 'Median of requests about many',
      y: 'ms',
      series: medians(measured.filter(({ title }) => isBulk(title) && !isOfFeed(title))),
    },
    feed: {
      ...x,
      title: 'Median of pages of 1,000 events',
      y: 'ms',
      series: medians(measured.filter(({ title }) => isOfFeed(title))),
    },
    buffers: {
      ...{ ...x, title: 'Pages that a statement touches', y: 'pages of 8 KiB', isLogY: true },
      series: explained.map(([title, at]) =>
        line(
          title,
          at.map(({ pages }) => Math.max(1, pages)),
        ),
      ),
    },
    replicas: {
      ...{ title: 'Look-ups a second, simulated', x: 'processes of the API', y: 'a second' },
      series: databases.map((count) => ({
        name: count === 1 ? 'the primary alone' : `and ${count - 1} standbys`,
        points: scaled
          .filter(({ layout }) => layout.databases === count)
          .map(({ layout, answered }): [number, number] => [layout.processes, answered.perS]),
      })),
    },
  }
}
