import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import {
  type FaultyNode,
  NODE_FAULT_KINDS,
  type NodeFaults,
} from '../../support/faultyNode/faultyNode.js'
import { LIE_METHODS } from '../../support/faultyNode/lies.js'
import { reorgNewest } from './ledger.js'
import { count, outage, proxiesOf, rest, strike, type Weather, withOne } from './site.js'
import { bringBack } from './wallets.js'
import type { ChaosWorld } from './world.js'

const MOST_FAULTS = 6
const MOST_PROBABLE = 0.2
/** Depth of a reorg in blocks: a block is confirmed once the head is two blocks above it. */
const REORG_BLOCKS = 2

export const reorg: Weather = (site) =>
  withOne(site, site.world.chains, async (chain) => {
    const depth = integerBetween(site.next(), 1, REORG_BLOCKS)
    const lost = await reorgNewest(chain, depth, site.ledger)
    count(site, 'reorgs')
    count(site, 'transactions taken back', lost.length)
    count(site, 'sent again', await bringBack(chain, lost, site.seed))
    return `reorg of ${depth} on ${chain.label}, ${lost.length} transactions taken back`
  })

/** A few kinds of faults at low probabilities, so that work continues between them. */
function someFaults(next: () => number): NodeFaults {
  const faults: NodeFaults = {}
  for (let n = integerBetween(next(), 1, MOST_FAULTS); n > 0; n--)
    faults[pickElement(next(), NODE_FAULT_KINDS)] = Number((next() * MOST_PROBABLE).toFixed(3))
  return faults
}

/** Random faults of a node. A chain's only node leaves out no logs, since it is trusted with old blocks. */
export function faultsFor({ chains }: ChaosWorld, proxy: FaultyNode, next: () => number) {
  const { missing_logs, ...faults } = someFaults(next)
  const isAlone = chains.some(({ proxies: [first, second] }) => first === proxy && !second)
  return isAlone || missing_logs === undefined ? faults : { ...faults, missing_logs }
}

export const changeFaults: Weather = async (site) => {
  const proxy = pickElement(site.next(), proxiesOf(site.world))
  const faults = faultsFor(site.world, proxy, site.next)
  proxy.set(faults)
  count(site, 'changes of faults')
  return `faults ${JSON.stringify(faults)}`
}

export const cutNode: Weather = (site) =>
  withOne(site, proxiesOf(site.world), async (proxy) => {
    proxy.cut()
    count(site, 'cuts')
    await rest(site, 300, 2_500)
    proxy.restore()
    return 'a node was cut off'
  })

export const silenceNode: Weather = (site) =>
  withOne(site, proxiesOf(site.world), async (proxy) => {
    proxy.silence()
    count(site, 'silent nodes')
    await outage(site)
    proxy.restore()
    return 'a node fell silent'
  })

/** One wrong answer of one node. */
export const lie: Weather = (site) => {
  const method = pickElement(site.next(), LIE_METHODS)
  return withOne(
    site,
    site.world.chains.flatMap(({ proxies }) => proxies),
    async (proxy) => {
      const before = proxy.counts().lie
      proxy.lieOnce(method)
      await rest(site, 500, 3_000)
      if (proxy.counts().lie > before) count(site, `lies by ${method}`)
      proxy.restore()
      return `a lie by ${method}`
    },
  )
}

/** The daemon's connections to the database, including new ones, are silent for a while, and then continue. */
export const holdDatabase: Weather = (site) =>
  withOne(site, site.world.daemons, async (daemon) => {
    await strike(site, daemon, 'silence', async () => {
      daemon.database.hold()
      count(site, 'partitions')
      await outage(site)
      daemon.database.restore()
    })
    return `the database was out of reach of ${daemon.name}`
  })

/** The daemon's present connections to the database are silent for good, while new ones work. */
export const forgetDatabase: Weather = (site) =>
  withOne(site, site.world.daemons, async (daemon) => {
    await strike(site, daemon, 'forget', async () => {
      daemon.database.forget()
      count(site, 'forgotten connections')
      await outage(site)
      daemon.database.restore()
    })
    return `connections of ${daemon.name} to the database were forgotten`
  })

/** The finalized block is frozen for up to a minute, while the chain continues. */
export const stallFinality: Weather = (site) => {
  const { chains } = site.world
  return withOne(
    site,
    chains.filter(({ isFinalizing }) => isFinalizing),
    async ({ label, proxies }) => {
      for (const proxy of proxies) await proxy.stallFinality()
      count(site, 'stalls of finality')
      await rest(site, site.longestMs, 2 * site.longestMs)
      for (const proxy of proxies) proxy.restore()
      return `finality of ${label} stood still`
    },
  )
}
