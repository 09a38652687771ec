import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import {
  configuredMinimumBids,
  LOG_INDEX_OF_CONFIGURED_MINIMUM_BID,
} from '../../chains/evm/runningHash/ranges.js'
import { subscribeToNode } from '../../chains/rpc/subscriptions.js'
import { type ChainRow, readChain, readEntryBodies } from '../../db/chains/chains.js'
import { chainErrorSentence } from '../../ops/causes.js'
import type { LeaderContext } from '../../ops/context.js'
import { createLoopWaker } from '../../ops/waiting.js'
import type { Worker } from '../../ops/worker.js'
import { bigIntToWord } from '../../registry/primitives/bytes.js'
import { headPollPauseMs } from '../headClock.js'
import type { IndexerCallbacks } from '../progress.js'
import { ChainIndexer } from './chainIndexer.js'
import type { IndexerStepOutcome } from './types.js'

const HALTED_POLL_MS = 1_000

/** An EVM chain with its row in the database. */
interface IndexedEvmChain {
  chain: EvmChain
  row: ChainRow
  /** Checks, once nodes answer, that they serve the configured chain. @throws ChainMismatchError, WrongChainError */
  identify(): Promise<void>
}

/**
 * Worker that indexes a chain. New heads from the chain's WebSocket wake the worker. The poll finds heads that the
 * socket did not show.
 */
export function createEvmIndexerWorker(
  ctx: LeaderContext,
  { chain, row, identify }: IndexedEvmChain,
  reporting: IndexerCallbacks,
): Worker {
  const { pool, network, epoch, log, metrics, signal } = ctx
  const { wsUrl, pollMs, local } = chain.config
  const fields = { network, chain: row.label }
  const notify = createLoopWaker()
  let isOpen = false
  let isHalted = false
  // true if the row must be read again: another leader may have moved the cursor, or a commit on a broken connection
  // may have succeeded
  let isRowStale = true
  let signOfLife = () => {}
  /** Newest head: its number, and when this process read it. */
  let head = { number: -1, ms: Number.NEGATIVE_INFINITY }
  /** Number of the last head that the socket showed. */
  let shown = Number.NaN

  const onHead = (text: string): void => {
    shown = Number(/"number":\s*"(0x\w+)"/.exec(text)?.[1])
    notify.notify()
  }

  const onProgress: IndexerCallbacks['onProgress'] = (progress) => {
    signOfLife()
    reporting.onProgress(progress)
  }
  const indexer = new ChainIndexer({ pool, chain, row, epoch, signal, onProgress })

  const readRow = async (): Promise<void> => {
    if (!isOpen) await chain.stages.during('node', identify)
    Object.assign(row, await chain.stages.during('database', () => readChain(pool, row)))
    for (const block of isOpen ? [] : await findUnappliedMinimumBids(pool, chain, row))
      log.error(
        { ...fields, block },
        'a configured minimum is not applied: its block is indexed, `clusterd journal rewind` to it',
      )
    isOpen = true
  }

  const report = (outcome: IndexerStepOutcome, startedMs: number): void => {
    if ('entries' in outcome && outcome.entries > 0)
      metrics.entries.inc({ network }, outcome.entries)
    const { kind, ...numbers } = outcome
    const ms = Math.round(performance.now() - startedMs)
    const line = { ...fields, nextBlock: row.nextBlock, ...numbers, ms }
    if (kind === 'halted' && !isHalted) log.error(line, 'halted: a confirmed block was replaced')
    else if (isNews(outcome)) log.info(line, kind)
    else log.trace(line, kind)
    isHalted = kind === 'halted'
  }

  reporting.onStart(row.label, indexer)
  return {
    name: 'the indexer',
    fields,
    notify,
    get pollMs() {
      if (isHalted) return HALTED_POLL_MS
      // a local chain mines on demand, so its next block does not follow from the time between earlier blocks
      if (local && head.number !== shown) return pollMs
      const sinceMs = performance.now() - head.ms
      return headPollPauseMs(indexer.clock, { pollMs, sinceMs, lead: shown - head.number })
    },
    subscribe: () =>
      wsUrl
        ? subscribeToNode({
            urls: [wsUrl],
            requests: [{ method: 'eth_subscribe', params: ['newHeads'] }],
            onNotification: onHead,
            onEnd: (err) => log.debug({ ...fields, err }, 'the socket for heads has ended'),
          })
        : undefined,
    async step(_, alive) {
      signOfLife = alive
      if (isRowStale) await readRow()
      isRowStale = false
      const startedMs = performance.now()
      const outcome = await indexer.step()
      const number = indexer.state.latest
      if (number !== null && number > head.number) head = { number, ms: startedMs }
      report(outcome, startedMs)
      const isAdvanced = outcome.kind === 'backfilled' || outcome.kind === 'followed'
      if (isAdvanced) reporting.onAdvance(isNews(outcome))
      return isAdvanced && !indexer.isAtHead ? 'progressed' : 'waiting'
    },
    onFailure(error) {
      isRowStale = true
      Object.assign(indexer.state, { lastError: chainErrorSentence(error), lastStepMs: Date.now() })
    },
  }
}

/**
 * Blocks before the cursor whose configured minimum bid is not in the journal, or is there with another value. A rewind
 * to such a block applies the minimum bid.
 */
export async function findUnappliedMinimumBids(
  pool: pg.Pool,
  { config }: EvmChain,
  row: ChainRow,
): Promise<number[]> {
  const past = [...configuredMinimumBids(config)].filter(([block]) => block < row.nextBlock)
  if (past.length === 0) return []
  const blocks = past.map(([block]) => block)
  const journalled = await readEntryBodies(pool, row, blocks, LOG_INDEX_OF_CONFIGURED_MINIMUM_BID)
  return past
    .filter(([block, wei]) => !journalled.get(block)?.equals(bigIntToWord(wei)))
    .map(([block]) => block)
}

const isNews = (outcome: IndexerStepOutcome): boolean =>
  outcome.kind === 'backfilled' ||
  (outcome.kind === 'followed' && outcome.facts + outcome.confirmedFacts + outcome.dropped > 0)
