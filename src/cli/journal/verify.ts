import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import { createChainRpc, createEvmChain } from '../../chains/evm/chain.js'
import { filterOf } from '../../chains/evm/decodeLogs.js'
import { readLogs } from '../../chains/evm/logs.js'
import { emptyRecord, foldRecord, readRecord } from '../../chains/evm/record.js'
import { type ChainConfig, readChains, readEnvironment } from '../../config/index.js'
import { type ChainRow, findChain, type JournalledLog, readJournalledLogs } from '../../db/journal/chains.js'
import { fetchRange, timesOf } from '../../indexer/evm/fetchRange.js'
import { createRangeWidth } from '../../indexer/evm/width.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { withPool } from '../database.js'
import { printJson } from '../output.js'

export interface VerifyCommand {
  json?: boolean
}

/** Findings of a hub's blocks, read again, about the journal. */
export interface Verified {
  network: string
  chain: string
  /** First and last block, inclusive. */
  from: number
  to: number
  /** Logs that both have alike. */
  equal: number
  /** Logs that one of both lacks, or that differ: `block/log index`. */
  different: string[]
  /** Tells whether the logs make the contracts' own record; null where none is kept, or no node has the state. */
  isRecorded: boolean | null
}

const RECORD: Readonly<Record<string, string>> = {
  true: "They make the contracts' own record: no node left one out or added one.",
  false:
    "They do NOT make the contracts' own record: a node left one out or added one, or `startBlock` is behind the first.",
  null: 'The contracts keep no record, or no node has the state of the last block: nothing proves that none is missing.',
}
/** Differences that are named. */
const MAX_NAMED = 20

/**
 * `clusterd journal verify`: reads the logs of each hub again, from its first block to the checkpoint, and compares
 * them with the journal and with the hash that the contracts keep of them; exit code 1 for a difference.
 */
export async function verifyJournal({ json }: VerifyCommand): Promise<void> {
  const hubs = readChains(readEnvironment().chainsFile).chains.filter(({ role }) => role === 'hub')
  const results = await withPool({ command: 'verify' }, async (pool) => {
    const done: Verified[] = []
    for (const hub of hubs) {
      const row = await findChain(pool, hub.network, hub.label)
      if (row) done.push(await verifyHub(pool, hub, row))
    }
    return done
  })
  if (json) printJson({ hubs: results })
  else for (const result of results) print(result)
  if (results.some(({ different, isRecorded }) => different.length > 0 || isRecorded === false)) process.exitCode = 1
}

/** Compares a hub's logs with the journal, range by range. @throws ChainUnavailableError */
export async function verifyHub(pool: pg.Pool, config: ChainConfig, row: ChainRow): Promise<Verified> {
  const chain = createEvmChain({ config, chain: row.chain, rpc: createChainRpc(config) })
  const width = createRangeWidth()
  let record = emptyRecord(config)
  const [first, last] = [config.startBlock, row.nextBlock - 1]
  const found: Verified = {
    network: row.network,
    chain: row.label,
    from: first,
    to: last,
    equal: 0,
    different: [],
    isRecorded: null,
  }
  for (let from = first; from <= last; ) {
    const to = Math.min(last, from + width.blocks - 1)
    const ranges = await fetchRange({ chain, width }, from, to)
    // a node that found the whole too large gives the parts
    for (const part of record.length === 0 ? [] : ranges)
      record = await chain.rpc.onOneNode(async (call) => {
        const told = await readLogs(call, filterOf(config), { from: part.from, to: part.to })
        return foldRecord(record, config, told.logs, await timesOf(call, told))
      })
    const entries = ranges.flatMap(({ decoded }) => decoded.entries)
    const shown = entries.map(({ position, body }) => ({ ...position!, body }))
    compare(found, shown, await readJournalledLogs(pool, row, from, to))
    from = to + 1
  }
  const kept = row.parentHash && (await chain.rpc.onOneNode((call) => readRecord(call, config, toHex(row.parentHash!))))
  if (kept) found.isRecorded = isDeepStrictEqual(kept, record)
  return found
}

function compare(found: Verified, shown: readonly JournalledLog[], stored: readonly JournalledLog[]): void {
  const placeOf = ({ block, logIndex }: JournalledLog): string => `${block}/${logIndex}`
  const left = new Map(stored.map((log) => [placeOf(log), log.body]))
  for (const log of shown) {
    const place = placeOf(log)
    if (left.get(place)?.equals(log.body)) found.equal += 1
    else found.different.push(place)
    left.delete(place)
  }
  found.different.push(...left.keys())
}

function print({ network, chain, from, to, equal, different, isRecorded }: Verified): void {
  const verdict = different.length === 0 ? 'all as the journal has them' : `${different.length} DIFFERENT`
  console.log(`${network}: blocks ${from} to ${to} of chain "${chain}": ${equal} logs, ${verdict}`)
  console.log(`  ${RECORD[String(isRecorded)]}`)
  for (const place of different.slice(0, MAX_NAMED)) console.log(`  block/log ${place}`)
}
