import type pg from 'pg'
import { type EvmChain, readConfirmedBlock } from '../chains/evm/chain.js'
import { getBlockHeader } from '../chains/evm/logs.js'
import { assertOwnersOnHub, MAX_OWNERS_PER_CALL } from '../chains/evm/owners.js'
import { transientError } from '../chains/rpc/errors.js'
import { readJournalHead } from '../db/journal/head.js'
import {
  markNamesProved,
  readMirroredNetworks,
  readWinningBidBodies,
} from '../db/mirror/mirrors.js'
import type { Worker } from '../ops/worker.js'

/**
 * Name of the loop that proves names. Its error names the first name whose owner on the hub is not the owner in the
 * tables.
 */
export const NAME_PROOF_LOOP = 'the proof of the names'

/**
 * Reads from the hub of a mirrored network, as of its newest confirmed block, the owner of each name that is not proved
 * yet. If all owners match the tables, stores that the names are proved.
 * @throws Error that names the first name whose owner on the hub is not the owner in the tables; ChainUnavailableError;
 * RpcError
 */
async function proveNames(pool: pg.Pool, hub: EvmChain, alive: () => void): Promise<void> {
  const { network } = hub
  const { seq, generation } = await readJournalHead(pool, network)
  const mirrored = (await readMirroredNetworks(pool)).get(network)
  if (!mirrored || mirrored.provedSeq >= seq) return
  const { confirmed } = await readConfirmedBlock(hub, await hub.heads())
  const block = await hub.rpc.onOneNode((call) => getBlockHeader(call, Math.max(0, confirmed)))
  if (!block) throw transientError(`eth_getBlockByNumber: block ${confirmed} is missing`)
  for (let after = mirrored.provedSeq; ; alive()) {
    const names = await readWinningBidBodies(pool, network, after, MAX_OWNERS_PER_CALL)
    const bodies = names.map(({ body }) => body)
    if (bodies.length === 0) break
    await assertOwnersOnHub(hub, block, bodies)
    after = names.at(-1)!.seq
  }
  await markNamesProved(pool, network, { block: block.number, generation, seq })
}

/** Creates the worker that proves the mirrored names, and names that are mirrored later. */
export const createNameProofWorker = (pool: pg.Pool, hub: EvmChain): Worker => ({
  name: NAME_PROOF_LOOP,
  fields: { network: hub.network },
  pollMs: 30_000,
  async step(_, alive) {
    await proveNames(pool, hub, alive)
    return 'idle'
  },
})
