import type { Agent } from 'node:http'
import { decodeWallet } from '../../src/registry/primitives/address.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { clusterId } from '../../src/registry/primitives/clusterId.js'
import { type Asked, ask } from '../bench/ask.js'
import { nameOf, shapeOf, txOf, walletOf } from './population.js'
import type { Registry } from './registries.js'

/** Requests about a generated registry, others in each round, with what their answers have to hold. */

export const AT_ONCE = 1_000
/** The owner of a hundredth of all names, and a cluster of 1,000 wallets (population.ts). */
const [GREAT_OWNER, FULL] = [1, 2]

interface Request extends Asked {
  url: string
  /** Text of a right answer: wrong ones may be quick. */
  holds: string
}

export interface Question {
  title: string
  request(round: number): Request
}

const textOf = (stored: Buffer): string => decodeWallet(stored).text

/** A cluster of a round, none twice, spread over the whole registry. */
export const clusterOf = ({ clusters }: Pick<Registry, 'clusters'>, round: number): number => {
  // the nearest number to the golden section that has no factor in common with theirs
  let step = Math.floor(clusters * 0.618)
  while (divisor(step, clusters) !== 1) step -= 1
  return (7 + round * step) % clusters
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

const posted = (path: string, body: unknown, holds: string): Request => ({
  url: path,
  body: JSON.stringify(body),
  holds,
})

/** Questions whose requests are known beforehand; `%` stands where other paths are. */
export function lookUps(registry: Registry): Question[] {
  const at = (round: number) => clusterOf(registry, round)
  const many = (round: number) => Array.from({ length: AT_ONCE }, (_, i) => at(round * AT_ONCE + i))
  return [
    {
      title: 'GET /v1/names/address/:address',
      request: (round) => ({
        url: `/v1/names/address/${textOf(walletOf(at(round)))}`,
        holds: `"clusterName":"${nameOf(at(round))}"`,
      }),
    },
    {
      title: 'POST /v1/names (one name)',
      request: (round) => posted('/v1/names', [{ name: nameOf(at(round)) }], textOf(walletOf(at(round)))),
    },
    ...bulkOf(many),
    {
      title: 'POST /v1/names/register/check (taken, free)',
      request: (round) => {
        const taken = nameOf(at(round))
        return posted('/v1/names/register/check', [taken, `${taken}__free`], '"isAvailable":true')
      },
    },
    {
      title: 'GET /v1/clusters/id/:id',
      request: (round) => ({
        url: `/v1/clusters/id/${toHex(clusterId('mainnet', walletOf(ordinary(at(round))), 0))}`,
        holds: textOf(walletOf(ordinary(at(round)))),
      }),
    },
    {
      title: 'GET /v1/clusters/name/:name',
      request: (round) => ({
        url: `/v1/clusters/name/${nameOf(ordinary(at(round)))}`,
        holds: textOf(walletOf(ordinary(at(round)))),
      }),
    },
    {
      title: 'GET /v1/clusters/name/:name (1,000 wallets)',
      request: () => ({ url: `/v1/clusters/name/${nameOf(FULL)}`, holds: 'wallet-' }),
    },
    {
      title: 'GET /v1/names/owner/address/:address (a page)',
      request: (round) => ({ url: ownedFrom(registry, round), holds: '"clusterId"' }),
    },
    {
      title: 'GET /v1/names/register/tx/:tx',
      request: (round) => ({
        url: `/v1/names/register/tx/${toHex(txOf(at(round), 0))}`,
        holds: '"finalized"',
      }),
    },
  ]
}

/** A thousand at once. */
const bulkOf = (many: (round: number) => number[]): Question[] => [
  {
    title: 'POST /v1/names/address (1,000)',
    request: (round) => {
      const asked = many(round)
      const addresses = asked.map((one) => textOf(walletOf(one)))
      return posted('/v1/names/address', addresses, nameOf(asked[0]!))
    },
  },
  {
    title: 'POST /v1/names (1,000)',
    request: (round) => {
      const asked = many(round)
      const names = asked.map((one) => ({ name: nameOf(one) }))
      return posted('/v1/names', names, textOf(walletOf(asked.at(-1)!)))
    },
  },
]

/** Clusters of the sizes that all registries share. */
export const ordinary = (cluster: number): number => (cluster < 6 ? cluster + 6 : cluster)

/** A page of a hundred names of the greatest owner, from another name on each time. */
function ownedFrom({ size }: Registry, round: number): string {
  const held = shapeOf(GREAT_OWNER, size).names
  const after = (round * 9_973) % Math.max(1, held - 100)
  return `/v1/names/owner/address/${textOf(walletOf(GREAT_OWNER))}?limit=100${after > 0 ? `&after=${nameOf(GREAT_OWNER, after)}` : ''}`
}

const FIRST_MS = Date.UTC(2026, 0, 1)
const MS_A_CLUSTER = 200

/** Pages of the feed, followed from a place for as many as there are rounds, or to its end and then again. */
export async function feedPages(agent: Agent, api: string, registry: Registry, rounds: number): Promise<Question[]> {
  const { clusters, events } = registry
  // the greatest have more events than others
  const perPage = Math.ceil((1.4 * AT_ONCE * clusters) / events)
  const wanted = Math.min(rounds, Math.floor(events / AT_ONCE / 4))
  const places = [
    ['start', 0],
    ['middle', Math.floor(clusters / 2)],
    ['end', clusters - (wanted + 1) * perPage],
  ] as const
  const questions: Question[] = []
  for (const [where, cluster] of places) {
    const urls: string[] = []
    let next = `fromTimestamp=${FIRST_MS + cluster * MS_A_CLUSTER}`
    while (urls.length < wanted) {
      const url = `/v1/events?limit=${AT_ONCE}&${next}`
      const page = JSON.parse(await ask(agent, `${api}${url}`)) as { items: object[]; nextPage?: string }
      if (page.items.length < AT_ONCE) throw new Error(`following the feed from its ${where}: it ends`)
      // the first one looks for a time
      if (!next.startsWith('from')) urls.push(url)
      next = `nextPage=${page.nextPage!}`
    }
    questions.push({
      title: `GET /v1/events (1,000), ${where}`,
      request: (round) => ({ url: urls[round % urls.length]!, holds: '"items"' }),
    })
  }
  return questions
}
