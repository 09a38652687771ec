import { setTimeout as sleep } from 'node:timers/promises'
import { between, pick, sequence, shuffled } from '../../../src/testing/faultProxy/random.js'
import { FAULT_KINDS, type Faults } from '../../../src/testing/index.js'
import { waitFor } from '../../../src/testing/processes/processes.js'
import { reorg } from '../../support/miner.js'
import type { Ledger } from './ledger.js'
import { bringBack } from './wallets.js'
import type { ChaosChain, ChaosWorld } from './world.js'

const PAUSE_MS = { min: 600, max: 2_000 }
/** Long enough for a start and some steps. */
const FAIL_POINT_DEADLINE_MS = 9_000
const MOST_FAULTS = 6
const MOST_PROBABLE = 0.2
/** Deepest reorg in blocks: a block is confirmed once the head is two above it. */
const REORG_BLOCKS = 2
/** Fail points of a world that has caught up; those of the backfill are tested in test/recovery. */
const FAIL_POINTS = [
  'index.after_append',
  'follow.before_transaction',
  'follow.after_commit',
  'follow.before_commit',
  'relay.queued',
  'relay.sign',
  'relay.signed',
  'relay.broadcast',
  'relay.sent',
  'relay.included',
  'relay.reorged',
  'relay.confirmed',
  'payout.queued',
  'payout.sign',
  'payout.broadcast',
  'payout.sent',
  'solana.before_commit',
  'solana.after_commit',
]

/** Disruptions of the world. */
export interface DisruptionCounts {
  reorgs: number
  reorgedTxs: number
  broughtBack: number
  kills: number
  postgresKills: number
  cuts: number
  changes: number
}

export interface Disruptions {
  readonly counts: DisruptionCounts
  /** Settles after the signal, once the world is whole again and without faults. */
  done: Promise<void>
}

/** Disrupts the world by a seed: reorgs, kills, outages and faults of nodes, one after the other. */
export function startDisruptions(
  world: ChaosWorld,
  ledger: Ledger,
  seed: number,
  signal: AbortSignal,
  log: (line: string) => void,
): Disruptions {
  const next = sequence(seed, 'disruptions')
  const counts: DisruptionCounts = {
    reorgs: 0,
    reorgedTxs: 0,
    broughtBack: 0,
    kills: 0,
    postgresKills: 0,
    cuts: 0,
    changes: 0,
  }
  const proxies = [...world.chains.flatMap((chain) => chain.proxies), ...(world.solana ? [world.solana.proxy] : [])]
  const deaths = () => Object.values(world.daemon.failpoints).reduce((sum, n) => sum + n, 0)
  const rest = (min: number, max: number) => sleep(between(next(), min, max))

  const kinds: [share: number, disrupt: () => Promise<string>][] = [
    [
      32,
      async () => {
        const chain = pick(next(), world.chains)
        const depth = between(next(), 1, REORG_BLOCKS)
        const lost = await reorgNewest(chain, depth, ledger)
        counts.reorgs += 1
        counts.reorgedTxs += lost.length
        counts.broughtBack += await bringBack(chain, lost, seed)
        return `reorg of ${depth} on ${chain.label}, ${lost.length} transactions taken back`
      },
    ],
    [
      28,
      async () => {
        const faults = someFaults(next)
        pick(next(), proxies).set(faults)
        counts.changes += 1
        return `faults ${JSON.stringify(faults)}`
      },
    ],
    [
      12,
      async () => {
        const proxy = pick(next(), proxies)
        proxy.cut()
        counts.cuts += 1
        await rest(300, 2_500)
        proxy.restore()
        return 'cut'
      },
    ],
    [
      10,
      async () => {
        world.daemon.kill()
        counts.kills += 1
        return 'kill -9'
      },
    ],
    [
      11,
      async () => {
        const point = `${pick(next(), FAIL_POINTS)}:${between(next(), 1, 6)}`
        const before = deaths()
        world.daemon.arm(point)
        world.daemon.kill()
        counts.kills += 1
        const isDead = await waitFor(() => deaths() > before || signal.aborted, FAIL_POINT_DEADLINE_MS)
        return `kill -9, then to die at ${point}${isDead ? '' : ', which it has not reached yet'}`
      },
    ],
    [
      7,
      async () => {
        await world.stack.postgres!.kill()
        counts.postgresKills += 1
        await rest(100, 1_200)
        await world.stack.postgres!.restart()
        return 'PostgreSQL killed and started again'
      },
    ],
  ]
  const total = kinds.reduce((sum, [share]) => sum + share, 0)
  /** Every kind once, so that a short run has them all; later ones are drawn. */
  const first = shuffled(
    kinds.map(([, disrupt]) => disrupt),
    next,
  )
  const draw = () => {
    let at = next() * total
    return kinds.find(([share]) => {
      at -= share
      return at < 0
    })![1]
  }

  const run = async (): Promise<void> => {
    for (const proxy of proxies) proxy.set(someFaults(next))
    while (!signal.aborted) {
      await sleep(between(next(), PAUSE_MS.min, PAUSE_MS.max), undefined, { signal }).catch(() => {})
      if (signal.aborted) break
      const disrupt = first.shift() ?? draw()
      log(await disrupt())
    }
    for (const proxy of proxies) {
      proxy.set({})
      proxy.restore()
    }
  }
  return { counts, done: run() }
}

/** Kinds that are drawn by probability: a lie is told once. */
const DRAWN_KINDS = FAULT_KINDS.filter((kind) => kind !== 'lie')

/** A few kinds of faults at low probabilities, so that work goes on between them. */
function someFaults(next: () => number): Exclude<Faults, (...args: never) => unknown> {
  const faults: Partial<Record<(typeof FAULT_KINDS)[number], number>> = {}
  for (let n = between(next(), 1, MOST_FAULTS); n > 0; n--)
    faults[pick(next(), DRAWN_KINDS)] = Number((next() * MOST_PROBABLE).toFixed(3))
  return faults
}

/** Replaces the newest blocks by empty ones. @returns the wallets' transactions that are in no block now */
export async function reorgNewest(chain: ChaosChain, depth: number, ledger: Ledger) {
  const hashes = await chain.miner.paused(async () => {
    const head = await chain.reader.getBlockNumber({ cacheTime: 0 })
    const blocks = await Promise.all(
      Array.from({ length: depth }, (_, i) => chain.reader.getBlock({ blockNumber: head - BigInt(i) })),
    )
    await reorg(chain, depth)
    return blocks.flatMap(({ transactions }) => transactions)
  })
  const gone = await Promise.all(
    hashes.map(async (hash) =>
      chain.reader.getTransaction({ hash }).then(
        () => null,
        () => hash,
      ),
    ),
  )
  return gone.flatMap((hash) => (hash ? (ledger.find(hash) ?? []) : []))
}
