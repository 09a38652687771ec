import { isDeepStrictEqual } from 'node:util'
import { createEvmChain, createEvmChainRpc } from '../../chains/evm/chain.js'
import { decodeRunningHashes } from '../../chains/evm/runningHash/hashes.js'
import {
  hasRunningHashes,
  readAgreedRunningHashesOrNull,
} from '../../chains/evm/runningHash/prove.js'
import { readChainsFile, readEnvironment } from '../../config/index.js'
import { findChain } from '../../db/chains/chains.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { withDatabasePool } from '../database.js'
import { printJson } from '../output.js'

/** Sentences for the results, by `String(isProved)`. */
const RESULT_TEXTS: Readonly<Record<string, string>> = {
  true: "the logs in the journal produce the contracts' running hashes: none is missing, added or changed",
  false:
    "the logs in the journal do NOT produce the contracts' running hashes: docs/run/alarms.md says what to do",
  null: 'not known: no node has the state of that block, or the contracts keep no running hash',
}

/**
 * `clusterd journal verify`: for each hub, compares the running hash of the logs in the journal with the running hash
 * that the contracts keep (contracts/evm/src/interfaces/IRecord.sol), at the same block. Exits with 1 where the two
 * differ.
 */
export async function verifyJournal({ json }: { json?: boolean }): Promise<void> {
  const hubs = readChainsFile(readEnvironment().chainsFile).chains.filter(
    ({ role }) => role === 'hub',
  )
  const verified = await withDatabasePool((pool) =>
    Promise.all(
      hubs.map(async (config) => {
        const { network, label } = config
        const row = await findChain(pool, network, label)
        if (!row) return []
        const { parentHash: hash } = row
        const chain = createEvmChain({ config, chain: row.chain, rpc: createEvmChainRpc(config) })
        const block = hash && { number: row.nextBlock - 1, hash: toHex(hash) }
        const isKept = block && hasRunningHashes(chain)
        const nodeHashes = isKept
          ? ((await readAgreedRunningHashesOrNull(chain, block))?.answer ?? null)
          : null
        const ours = hash && decodeRunningHashes(config, hash, row.record)
        const isProved = nodeHashes && ours && isDeepStrictEqual(nodeHashes, ours)
        if (isProved === false) process.exitCode = 1
        const place = {
          network,
          chain: label,
          block: row.nextBlock - 1,
          blockHash: hash && toHex(hash),
        }
        // `record` and `isProved` are null where no node returns a running hash, or the contracts keep none
        return [{ ...place, record: nodeHashes?.map(toHex) ?? null, isProved }]
      }),
    ),
  )
  const results = verified.flat()
  if (json) printJson({ hubs: results })
  else
    for (const { network, chain, block, isProved } of results)
      console.log(
        `${network}, chain "${chain}" up to block ${block}: ${RESULT_TEXTS[String(isProved)]}`,
      )
}
