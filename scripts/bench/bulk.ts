import { Agent } from 'node:http'
import pg from 'pg'
import { ask, timed } from './ask.js'
import { latencyOf, printTable, thousands } from './bench.js'
import { nameOf, walletOf } from './chain.js'
import { byRun, recordFigure } from './figure.js'

/** Bulk look-ups and pages of the feed, one after another, beside the bare SQL that finds the same rows. */

export const AT_ONCE = 1_000
const EVENTS_A_REGISTRATION = 3
/** Rounds that do not count: so many, or as many as count. */
const WARM_UP = 30

const BARE_ADDRESSES = {
  name: 'bare_addresses',
  text: `SELECT w.address, w.name, w.verified, n.name AS cluster FROM wallets_mainnet w
    JOIN names_mainnet n ON n.network = 0 AND n.cluster = w.cluster
    WHERE w.network = 0 AND NOT w.private AND w.address = ANY($1)`,
}
const BARE_NAMES = {
  name: 'bare_names',
  text: `SELECT n.name, w.address, w.name AS wallet, w.verified FROM names_mainnet n
    JOIN wallets_mainnet w ON w.network = 0 AND w.cluster = n.cluster AND NOT w.private AND w.name = 'main'
    WHERE n.network = 0 AND n.outcome = 1 AND n.name = ANY($1)`,
}
const BARE_PAGE = {
  name: 'bare_page',
  text: `SELECT j.kind, j.at_ms, j.public_first, j.public_count, j.actor, j.body, j.effects, c.id FROM journal_mainnet j
    JOIN names_mainnet n ON n.network = 0 AND n.seq = j.seq
    JOIN clusters_mainnet c ON c.network = 0 AND c.serial = n.cluster
    WHERE j.network = 0 AND j.generation = 1 AND j.public_count > 0 AND j.public_first >= $1
    ORDER BY j.public_first LIMIT $2`,
}

/** Times of a question and of its floor, ms, each of as many rounds. */
export interface Beside {
  title: string
  floor: string
  ours: number[]
  bare: number[]
}

interface Question extends Pick<Beside, 'title' | 'floor'> {
  /** Rows that the bare statement has to find, and elements of the answer. */
  rows: number
  elements: number
  bare(round: number): pg.QueryConfig
  ours(round: number): { url: string; body?: string }
}

/** Asks in turn for as many rounds. @throws Error where an answer lacks something: wrong answers may be quick ones */
export async function measureBulk(
  api: string,
  databaseUrl: string,
  registrations: number,
  rounds: number,
): Promise<Beside[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  // as autovacuum does in time
  await client.query('VACUUM ANALYZE')
  const questions = [...lookUps(api, registrations), ...(await pages(agent, api, registrations))]
  const measured = questions.map(({ title, floor }): Beside => ({ title, floor, ours: [], bare: [] }))
  const warmUp = Math.min(WARM_UP, rounds)
  for (let round = -warmUp; round < rounds; round++) {
    for (const [i, question] of questions.entries()) {
      const statement = question.bare(round + warmUp)
      const { url, body } = question.ours(round + warmUp)
      let found = 0
      const bare = await timed(async () => {
        found = (await client.query(statement)).rows.length
      })
      let text = ''
      const ours = await timed(async () => {
        text = await ask(agent, url, body === undefined ? {} : { body })
      })
      if (found !== question.rows) throw new Error(`asking bare for ${question.title}: ${found} rows`)
      if (round < 0) check(text, question)
      else {
        measured[i]!.bare.push(bare)
        measured[i]!.ours.push(ours)
      }
    }
  }
  agent.destroy()
  await client.end()
  return measured
}

/** Different registrations in each round, spread over the whole table. */
const numbers = (round: number, registrations: number): number[] => {
  const step = Math.floor(registrations / AT_ONCE)
  return Array.from({ length: AT_ONCE }, (_, i) => i * step + (round % step))
}

function lookUps(api: string, registrations: number): Question[] {
  const rows = { rows: AT_ONCE, elements: AT_ONCE }
  const of = (round: number) => numbers(round, registrations)
  return [
    {
      ...{ title: 'POST /v1/names/address (1,000)', floor: 'bare join by 1,000 addresses', ...rows },
      bare: (round) => ({
        ...BARE_ADDRESSES,
        values: [of(round).map((n) => Buffer.from(`01${walletOf(n).slice(2)}`, 'hex'))],
      }),
      ours: (round) => ({ url: `${api}/v1/names/address`, body: JSON.stringify(of(round).map(walletOf)) }),
    },
    {
      ...{ title: 'POST /v1/names (1,000)', floor: 'bare join by 1,000 names', ...rows },
      bare: (round) => ({ ...BARE_NAMES, values: [of(round).map(nameOf)] }),
      ours: (round) => ({
        url: `${api}/v1/names`,
        body: JSON.stringify(of(round).map((n) => ({ name: nameOf(n) }))),
      }),
    },
  ]
}

interface Page {
  items: object[]
  nextPage?: string
}

/** Pages at the start, the middle and the end of the feed, which is walked to find them. */
async function pages(agent: Agent, api: string, registrations: number): Promise<Question[]> {
  const urls: string[] = []
  let events = 0
  for (let next: string | undefined = ''; next !== undefined; ) {
    const url = `${api}/v1/events?limit=${AT_ONCE}${next && `&nextPage=${next}`}`
    const page = JSON.parse(await ask(agent, url)) as Page
    events += page.items.length
    if (page.items.length === AT_ONCE) urls.push(url)
    next = page.nextPage
  }
  if (events !== registrations * EVENTS_A_REGISTRATION) throw new Error(`walking the feed: it has ${events} events`)
  const rows = Math.ceil(AT_ONCE / EVENTS_A_REGISTRATION)
  const at = (where: string, index: number): Question => ({
    ...{
      title: `GET /v1/events (1,000), ${where}`,
      floor: 'bare join of its entries and clusters',
      rows,
      elements: AT_ONCE,
    },
    bare: () => {
      const first = index * AT_ONCE
      return { ...BARE_PAGE, values: [first - (first % EVENTS_A_REGISTRATION) + 1, rows] }
    },
    ours: () => ({ url: urls[index]! }),
  })
  return [at('start', 0), at('middle', Math.floor(urls.length / 2)), at('end', urls.length - 1)]
}

function check(text: string, { title, elements }: Question): void {
  const answer = JSON.parse(text) as Page | { clusterName: string | null }[]
  const found = Array.isArray(answer) ? answer.filter(({ clusterName }) => clusterName).length : answer.items.length
  if (found !== elements) throw new Error(`asking ${title}: ${found} elements`)
}

/** Prints, and hands the figures on. */
export function reportBulk(measured: readonly Beside[], registrations: number): void {
  console.log(`\n1,000 a request, one after another, among ${thousands(registrations)} registrations`)
  const ms = (value: number) => value.toFixed(2)
  printTable([
    ['', 'p50 ms', 'p99 ms', 'bare p50 ms', 'bare p99 ms', 'ratio'],
    ...measured.map(({ title, ours, bare }) => {
      const [a, b] = [latencyOf(ours), latencyOf(bare)]
      return [title, ms(a.p50), ms(a.p99), ms(b.p50), ms(b.p99), ms(a.p50 / b.p50)]
    }),
  ])
  for (const { title, floor, ours, bare } of measured)
    recordFigure({ title: `${title}, p50`, floor, ratios: byRun(latencyOf(ours).fifths, latencyOf(bare).fifths) })
}
