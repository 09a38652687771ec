import type pg from 'pg'
import type { EvmChain } from '../chains/evm/chain.js'
import { createCommunityPort } from '../chains/evm/community/port.js'
import { watchHeads } from '../chains/rpc/heads.js'
import type { BalancePort } from '../chains/walletFacts.js'
import { type ChainRow, readChain } from '../db/chains.js'
import { LostLeadershipError } from '../db/journal/head.js'
import { whileLeading } from '../db/pg/leader.js'
import type { Logger } from '../ops/log.js'
import { createNotify } from '../ops/notify.js'
import { pauseAfterError } from '../ops/worker.js'
import type { Network } from '../registry/primitives/network.js'
import { runAirdropWatcher } from './airdrops/run.js'
import { type ChainIndexer, createChainIndexer } from './evm/chainIndexer.js'
import type { IndexerState, Outcome, Progress } from './evm/types.js'
import { createPaymentJudge, type JudgeOutcome } from './payments/judge.js'
import { runPaymentJudge } from './payments/run.js'
import { type RunningWatcher, runPaymentWatcher, type SolanaSource } from './solana/run.js'
import type { WatchOutcome } from './solana/watcher.js'

const HALTED_POLL_MS = 1_000
const IDLE_LOG_LEVEL = 'trace'

/** Outcomes of steps that may have written payments. */
const TAKES_IN: ReadonlySet<string> = new Set<(Outcome | WatchOutcome)['kind']>(['backfilled', 'followed', 'took'])

export interface IndexRunOptions {
  pool: pg.Pool
  databaseUrl: string
  network: Network
  /** The network's chains: its hub and its spokes. */
  chains: readonly { chain: EvmChain; row: ChainRow }[]
  /** Its Solana cluster, where it has one. */
  solana?: SolanaSource | null
  log: Logger
  signal: AbortSignal
  onOutcome: (row: { label: string }, outcome: Outcome | WatchOutcome | { kind: 'failed' }) => void
  /** Told what became of believed payments for community names. */
  onJudged?: (outcome: JudgeOutcome | { kind: 'failed' }) => void
  onProgress: (progress: Progress) => void
}

export interface IndexRun {
  /** The chains as this process indexes them; null for each while another process leads. */
  states(): { label: string; network: Network; state: IndexerState | null }[]
  /** Settles when the run has ended after its signal. */
  done: Promise<void>
}

/**
 * Runs a network's indexers while this process leads it, until the signal: one loop a chain, so that a spoke that is away
 * delays no other. Timers live here and nowhere below.
 */
export function runIndexers(options: IndexRunOptions): IndexRun {
  const { network, chains, solana, log, signal, databaseUrl } = options
  const notify = createNotify()
  const indexers = new Map<string, ChainIndexer | RunningWatcher>()
  const labels = [...chains.map(({ row }) => row.label), ...(solana ? [solana.chain.label] : [])]
  const done = whileLeading(
    {
      url: databaseUrl,
      network,
      role: 'index',
      signal,
      onError: (err) => log.error({ network, err }, 'indexing stopped; trying to lead again'),
    },
    async (epoch, stopped) => {
      log.info({ network, chains: labels, epoch }, 'leading the indexing')
      try {
        await together(
          [
            ...chains.map(
              ({ chain, row }) =>
                (stop: AbortSignal) =>
                  runOne(chain, row, epoch, stop),
            ),
            ...(solana ? [(stop: AbortSignal) => watchPayments(solana, epoch, stop)] : []),
            (stop: AbortSignal) => judgePayments(epoch, stop),
            ...chains.map(
              ({ chain }) =>
                (stop: AbortSignal) =>
                  runAirdropWatcher(options, chain, epoch, stop),
            ),
          ],
          stopped,
        )
      } finally {
        indexers.clear()
      }
    },
  )
  return {
    states: () => labels.map((label) => ({ label, network, state: indexers.get(label)?.state ?? null })),
    done,
  }

  /** Whatever a step took in may have been payments. */
  function heard(row: { label: string }, outcome: Outcome | WatchOutcome | { kind: 'failed' }): void {
    if (TAKES_IN.has(outcome.kind)) notify.notify()
    options.onOutcome(row, outcome)
  }

  function watchPayments(source: SolanaSource, epoch: number, stopped: AbortSignal): Promise<void> {
    return runPaymentWatcher({ ...options, onOutcome: heard }, source, epoch, stopped, (watcher) => {
      indexers.set(source.chain.label, watcher)
    })
  }

  /** Believed payments for community names, whatever chain they were made on. */
  function judgePayments(epoch: number, stopped: AbortSignal): Promise<void> {
    const judge = createPaymentJudge({ pool: options.pool, network, epoch, ports: portsOf(options) })
    const pollMs = Math.min(...chains.map(({ chain }) => chain.config.pollMs))
    const onOutcome = options.onJudged ?? (() => {})
    return runPaymentJudge(judge, { network, log, notify, pollMs, onOutcome }, stopped)
  }

  async function runOne(chain: EvmChain, row: ChainRow, epoch: number, stopped: AbortSignal): Promise<void> {
    // another leader may have moved the checkpoint since we last looked
    Object.assign(row, await readChain(options.pool, row))
    const indexer = await createChainIndexer({
      pool: options.pool,
      chain,
      row,
      epoch,
      signal: stopped,
      onProgress: options.onProgress,
    })
    indexers.set(row.label, indexer)
    await loop({ ...options, onOutcome: heard }, chain, row, indexer, stopped)
  }
}

/** EVM chains are asked in a queue of their own: what the API is asked for holds up no payment. */
const portsOf = ({ chains, solana }: IndexRunOptions): BalancePort[] => [
  ...chains.map(({ chain }) => createCommunityPort(chain.rpc, chain.config)),
  ...(solana ? [solana.chain] : []),
]

/** Runs all until one fails; then stops the others, waits for them and fails with its error. */
async function together(
  works: readonly ((signal: AbortSignal) => Promise<void>)[],
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const results = await Promise.allSettled(
    works.map((work) =>
      work(either).catch((error) => {
        failed.abort()
        throw error
      }),
    ),
  )
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
}

async function loop(
  options: IndexRunOptions,
  chain: EvmChain,
  row: ChainRow,
  indexer: ChainIndexer,
  signal: AbortSignal,
): Promise<void> {
  const { log } = options
  const notify = createNotify()
  const unwatch = chain.config.wsUrl
    ? watchHeads(chain.config.wsUrl, notify.notify, (err) => log.debug({ chain: row.label, err }, 'watching heads'))
    : () => {}
  let failures = 0
  let isHalted = false
  try {
    while (!signal.aborted) {
      const startedMs = Date.now()
      try {
        const outcome = await indexer.converge()
        failures = 0
        options.onOutcome(row, outcome)
        if (outcome.kind !== 'halted' || !isHalted) logOutcome(log, row, outcome, Date.now() - startedMs)
        isHalted = outcome.kind === 'halted'
        if (outcome.kind === 'backfilled' || outcome.kind === 'followed') continue
        await notify.wait(outcome.kind === 'halted' ? HALTED_POLL_MS : chain.config.pollMs, signal)
      } catch (error) {
        if (error instanceof LostLeadershipError || signal.aborted) throw error
        options.onOutcome(row, { kind: 'failed' })
        if (failures === 0)
          log.warn({ network: row.network, chain: row.label, err: error }, 'a step failed; it will be tried again')
        else log.debug({ network: row.network, chain: row.label, err: error, failures }, 'a step failed again')
        // whether the transaction was committed is not known when its connection broke
        await readChain(options.pool, row).then(
          (fresh) => Object.assign(row, fresh),
          () => {},
        )
        await pauseAfterError(failures, signal)
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
