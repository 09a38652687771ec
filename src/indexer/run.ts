import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { EvmChain } from '../chains/evm/chain.js'
import { watchHeads } from '../chains/evm/headWatcher.js'
import { type ChainRow, readChain } from '../db/chains.js'
import { LostLeadershipError } from '../db/head.js'
import { type Leadership, tryLead } from '../db/leader.js'
import type { Logger } from '../ops/log.js'
import { type ChainIndexer, createChainIndexer } from './chainIndexer.js'
import type { IndexerState, Outcome, Progress } from './types.js'

const LEADER_POLL_MS = 1_000
const ERROR_BACK_OFF_MS = [250, 500, 1_000, 2_000, 5_000]
const IDLE_LOG_LEVEL = 'trace'

export interface IndexRunOptions {
  pool: pg.Pool
  databaseUrl: string
  chain: EvmChain
  row: ChainRow
  log: Logger
  signal: AbortSignal
  onOutcome: (outcome: Outcome | { kind: 'failed' }) => void
  onProgress: (progress: Progress) => void
}

export interface IndexRun {
  /** null while another process leads. */
  state(): IndexerState | null
  /** Settles when the run has ended after its signal. */
  done: Promise<void>
}

/** Runs a hub's indexer while this process leads its network, until the signal. Timers live here and nowhere below. */
export function runHubIndexer(options: IndexRunOptions): IndexRun {
  let indexer: ChainIndexer | null = null
  const { log, signal, row } = options

  const lead = async (leadership: Leadership): Promise<void> => {
    const stopped = new AbortController()
    const stop = () => stopped.abort()
    signal.addEventListener('abort', stop, { once: true })
    leadership.lost.then(stop)
    try {
      // another leader may have moved the checkpoint since we last looked
      Object.assign(row, await readChain(options.pool, row))
      indexer = await createChainIndexer({ ...options, epoch: leadership.epoch, signal: stopped.signal })
      log.info(
        { network: row.network, chain: row.label, block: row.nextBlock, epoch: leadership.epoch },
        'leading the indexing',
      )
      await loop(options, indexer, stopped.signal)
    } finally {
      indexer = null
      signal.removeEventListener('abort', stop)
      await leadership.release().catch(() => {})
    }
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const leadership = await tryLead(options.databaseUrl, row.network, 'index')
        if (leadership) await lead(leadership)
      } catch (error) {
        log.error({ network: row.network, chain: row.label, err: error }, 'indexing stopped; trying to lead again')
      }
      await pause(LEADER_POLL_MS, signal)
    }
  }
  return { state: () => indexer?.state ?? null, done: run() }
}

async function loop(options: IndexRunOptions, indexer: ChainIndexer, signal: AbortSignal): Promise<void> {
  const { chain, row, log } = options
  const bell = createBell()
  const unwatch = chain.config.wsUrl
    ? watchHeads(chain.config.wsUrl, bell.ring, (err) => log.debug({ chain: row.label, err }, 'watching heads'))
    : () => {}
  let failures = 0
  try {
    while (!signal.aborted) {
      const startedMs = Date.now()
      try {
        const outcome = await indexer.converge()
        failures = 0
        options.onOutcome(outcome)
        logOutcome(log, row, outcome, Date.now() - startedMs)
        if (outcome.kind === 'backfilled' || outcome.kind === 'followed') continue
        await bell.wait(outcome.kind === 'halted' ? LEADER_POLL_MS : chain.config.pollMs, signal)
      } catch (error) {
        if (error instanceof LostLeadershipError || signal.aborted) throw error
        options.onOutcome({ kind: 'failed' })
        if (failures === 0)
          log.warn({ network: row.network, chain: row.label, err: error }, 'a step failed; it will be tried again')
        else log.debug({ network: row.network, chain: row.label, err: error, failures }, 'a step failed again')
        // whether the transaction was committed is not known when its connection broke
        await readChain(options.pool, row).then(
          (fresh) => Object.assign(row, fresh),
          () => {},
        )
        await pause(ERROR_BACK_OFF_MS[Math.min(failures, ERROR_BACK_OFF_MS.length - 1)]!, signal)
        failures += 1
      }
    }
  } finally {
    unwatch()
  }
}

function logOutcome(log: Logger, row: ChainRow, outcome: Outcome, ms: number): void {
  const { kind, ...numbers } = outcome
  const fields = { network: row.network, chain: row.label, nextBlock: row.nextBlock, ...numbers, ms }
  if (kind === 'halted') log.error(fields, 'the chain is halted: a confirmed block was replaced')
  else if (kind === 'backfilled') log.info(fields, kind)
  else if (kind === 'followed' && (outcome.facts > 0 || outcome.entries > 0 || outcome.dropped > 0))
    log.info(fields, kind)
  else log[IDLE_LOG_LEVEL](fields, kind)
}

/** Waits for a time or until it is rung; a ring while nobody waits counts for the next wait. */
function createBell(): { ring: () => void; wait: (ms: number, signal: AbortSignal) => Promise<void> } {
  let isRung = false
  let wake: (() => void) | null = null
  return {
    ring: () => {
      isRung = true
      wake?.()
    },
    wait: async (ms, signal) => {
      if (!isRung) {
        const ended = new AbortController()
        const rung = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([rung, pause(ms, AbortSignal.any([signal, ended.signal]))])
        ended.abort()
        wake = null
      }
      isRung = false
    },
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {})
