import type pg from 'pg'
import type { EvmChain } from './chains/evm/chain.js'
import { readHead } from './db/journal/head.js'
import { markProved, readRegistered, readReplicas } from './db/journal/replica/replica.js'
import type { Context } from './ops/context.js'
import { runWorkers, type Worker } from './ops/worker.js'
import { assertOwners, OWNERS_AT_ONCE, provingBlock } from './record/owners.js'

/** Name of the loop whose failure says which name is wrong. */
export const PROOF = 'the proof of the names'
/** Pause after which a process sees that more was imported, ms. */
const POLL_MS = 30_000

/**
 * Asks the hub for the owner of each name of an imported network, and writes down that all are right.
 * @param alive called after each question
 * @returns the block as of which they are
 * @throws ForgedNameError that names the first that is not; ChainUnavailableError
 */
export async function proveNames(pool: pg.Pool, hub: EvmChain, alive: () => void = () => {}): Promise<number> {
  const { network } = hub
  const { publicSeq } = await readHead(pool, network)
  const block = await provingBlock(hub)
  for (let after = 0; ; ) {
    const names = await readRegistered(pool, network, { after, limit: OWNERS_AT_ONCE })
    if (names.length === 0) break
    await assertOwners(
      hub,
      block,
      names.map(({ body }) => body),
    )
    after = names.at(-1)!.seq
    alive()
  }
  await markProved(pool, network, { block: block.number, publicSeq })
  return block.number
}

/** Proves what was imported, and what is imported later, until the signal. */
export function runProof({ network, pool, log, loops, signal }: Context, hub: EvmChain): Promise<void> {
  const worker: Worker = {
    ...{ name: PROOF, fields: { network }, pollMs: POLL_MS },
    async step(_, alive) {
      if ((await readReplicas(pool)).get(network) !== 0) return 'idle'
      const block = await proveNames(pool, hub.forUse('judge'), alive)
      log.info({ network, block }, 'the hub gave each imported name to whom the feed says')
      return 'idle'
    },
  }
  return runWorkers([worker], { log, loops, signal }).catch((err: Error) => {
    if (!signal.aborted) log.error({ network, err }, 'the proof of the names has ended')
  })
}
