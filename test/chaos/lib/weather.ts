import { setTimeout as sleep } from 'node:timers/promises'
import { between, pick, sequence, shuffled } from '../../../src/testing/faultProxy/random.js'
import { FAULT_KINDS, type Faults } from '../../../src/testing/index.js'
import { waitFor } from '../../../src/testing/processes/processes.js'
import { reorg } from '../../support/miner.js'
import type { Ledger } from './ledger.js'
import { bringBack } from './wallets.js'
import type { ChaosChain, ChaosWorld } from './world.js'

const PAUSE_MS = { min: 600, max: 2_000 }
/** A start and some steps. */
const FAIL_POINT_DEADLINE_MS = 9_000
const MOST_FAULTS = 6
const MOST_PROBABLE = 0.2
/** The newest blocks that a reorg replaces at most: a block counts when the head is two beyond it. */
const REORG_BLOCKS = 2
/** Those that a world which keeps up passes; the ones of the backfill are in test/recovery. */
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

/** What was done to the world. */
export interface WeatherCounts {
  reorgs: number
  reorgedTxs: number
  broughtBack: number
  kills: number
  postgresKills: number
  cuts: number
  changes: number
}

export interface Weather {
  readonly counts: WeatherCounts
  /** Goes on until the signal; then the world is whole again and without faults. */
  done: Promise<void>
}

/** Bad weather out of a seed: reorgs, kills, outages and faults, one after the other. */
export function makeWeather(
  world: ChaosWorld,
  ledger: Ledger,
  seed: number,
  signal: AbortSignal,
  log: (line: string) => void,
): Weather {
  const next = sequence(seed, 'weather')
  const counts: WeatherCounts = {
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

  const deeds: [share: number, deed: () => Promise<string>][] = [
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
  const total = deeds.reduce((sum, [share]) => sum + share, 0)
  /** Each once, so that a short run has them all; then as they come. */
  const first = shuffled(
    deeds.map(([, deed]) => deed),
    next,
  )
  const someDeed = () => {
    let lot = next() * total
    return deeds.find(([share]) => {
      lot -= share
      return lot < 0
    })![1]
  }

  const blow = async (): Promise<void> => {
    for (const proxy of proxies) proxy.set(someFaults(next))
    while (!signal.aborted) {
      await sleep(between(next(), PAUSE_MS.min, PAUSE_MS.max), undefined, { signal }).catch(() => {})
      if (signal.aborted) break
      const deed = first.shift() ?? someDeed()
      log(await deed())
    }
    for (const proxy of proxies) {
      proxy.set({})
      proxy.restore()
    }
  }
  return { counts, done: blow() }
}

/** A few kinds of faults, seldom enough that work goes on between them. */
function someFaults(next: () => number): Exclude<Faults, (...args: never) => unknown> {
  const faults: Partial<Record<(typeof FAULT_KINDS)[number], number>> = {}
  for (let n = between(next(), 1, MOST_FAULTS); n > 0; n--)
    faults[pick(next(), FAULT_KINDS)] = Number((next() * MOST_PROBABLE).toFixed(3))
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
