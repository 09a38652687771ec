import { thousands } from '../bench/bench.js'
import type { Sized } from './buffers.js'
import type { Results } from './report.js'

/** What registries of sizes that no test machine holds would take, from what was measured on the largest. */

const NAMES = [1e7, 1e8, 1e9]
/** A year in which the registry grows by a half. */
const GROWTH = 0.5
const SECONDS_A_YEAR = 365 * 86_400
const ENTRIES_A_PARTITION = 10_000_000
/** Transactions after which PostgreSQL freezes old rows (autovacuum_freeze_max_age). */
const FREEZE_AFTER = 200e6
const BIDS_A_TRANSACTION = 3_000
const GIB = 2 ** 30

const perName = (tables: readonly Sized[], names: number, of: (table: Sized) => number): number =>
  tables.reduce((sum, table) => sum + of(table), 0) / names

const indexesOf = ({ indexes }: Sized): number => indexes.reduce((sum, { bytes }) => sum + bytes, 0)

/** Indexes that look-ups descend; the others are written, and read by the feed, a replay or nobody. */
const isHot = (table: string, definition: string): boolean =>
  !table.startsWith('journal') || definition.startsWith('(network, generation, seq)')

const hotOf = ({ table, indexes }: Sized): number =>
  indexes.filter(({ name }) => isHot(table, name)).reduce((sum, { bytes }) => sum + bytes, 0)

/** A random insert leaves B-tree pages about so full; those that were built at once are full to this share. */
const [SPLIT_FILL, BUILT_FILL] = [0.69, 0.9]

/** The worked table. */
export function costModel({ sizes, registries, writes, scaled }: Results): string[][] {
  const tables = sizes.at(-1)!
  const { names, entries } = registries.at(-1)!
  const heap = perName(tables, names, ({ heap: bytes }) => bytes)
  const built = perName(tables, names, indexesOf)
  const grown = (built * BUILT_FILL) / SPLIT_FILL
  const hot = (perName(tables, names, hotOf) * BUILT_FILL) / SPLIT_FILL
  const { perS, walBytes } = writes.at(-1)!
  const entriesAName = entries / names
  const oneProcess = scaled.find(({ layout }) => layout.processes === 1 && layout.databases === 1)!.answered.perS
  const row = (title: string, of: (count: number) => string): string[] => [title, ...NAMES.map(of)]
  const gib = (bytes: number) => `${thousands(bytes / GIB)} GiB`
  return [
    ['', ...NAMES.map((count) => `${thousands(count)} names`)],
    row('rows', (count) => gib(count * heap)),
    row('indexes, as built at once', (count) => gib(count * built)),
    row('indexes, as random inserts leave them', (count) => gib(count * grown)),
    row('all', (count) => gib(count * (heap + grown))),
    row('memory for the indexes of look-ups', (count) => gib(count * hot)),
    row('partitions of the journal', (count) => thousands(Math.ceil((count * entriesAName) / ENTRIES_A_PARTITION))),
    row('levels of a B-tree of 300 entries a page', (count) => String(Math.ceil(Math.log(3 * count) / Math.log(300)))),
    row('first catch-up of the names alone', (count) => `${(count / perS / 3_600).toFixed(1)} h`),
    row('a year that adds a half: names a second', (count) => ((count * GROWTH) / SECONDS_A_YEAR).toFixed(1)),
    row(
      '… share of the write ceiling',
      (count) => `${(((count * GROWTH) / SECONDS_A_YEAR / perS) * 100).toFixed(2)} %`,
    ),
    row('… bytes more', (count) => gib(count * GROWTH * (heap + grown))),
    row('… WAL to archive', (count) => gib(count * GROWTH * walBytes)),
    row('… transactions until a freeze, in years, a batch each', (count) =>
      (FREEZE_AFTER / ((count * GROWTH) / BIDS_A_TRANSACTION)).toFixed(0),
    ),
    row('processes of the API for ten look-ups a name and day', (count) =>
      thousands(Math.ceil((count * 10) / 86_400 / oneProcess)),
    ),
  ]
}
