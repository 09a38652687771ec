import type pg from 'pg'
import { watchLogs } from '../../chains/rpc/logs.js'
import type { SolanaChain } from '../../chains/solana/chain.js'
import { LostLeadershipError } from '../../db/journal/head.js'
import type { Logger } from '../../ops/log.js'
import { createNotify } from '../../ops/notify.js'
import { pauseAfterError } from '../../ops/worker.js'
import type { Network } from '../../registry/primitives/network.js'
import type { IndexerState, Progress } from '../evm/types.js'
import type { ProgramIdentity } from './row.js'
import { createPaymentWatcher, type WatchOutcome } from './watcher.js'

/** A network's Solana cluster as the daemon opened it. */
export interface SolanaSource {
  chain: SolanaChain
  /** Who the program is and the chain's number; asks the cluster when it was never reached before. @throws ChainUnavailableError */
  open(): Promise<{ identity: ProgramIdentity; chain: number }>
}

export interface WatcherRunOptions {
  pool: pg.Pool
  network: Network
  log: Logger
  onOutcome: (row: { label: string }, outcome: WatchOutcome | { kind: 'failed' }) => void
  onProgress: (progress: Progress) => void
}

/** A watcher that runs, for readiness and metrics. */
export interface RunningWatcher {
  readonly state: IndexerState
}

/**
 * Watches a network's payments on Solana until the signal. A cluster that is away delays nothing else: it is tried again and
 * again, here alone.
 * @param onStart told of the watcher as soon as there is something to show
 */
export async function runPaymentWatcher(
  options: WatcherRunOptions,
  source: SolanaSource,
  epoch: number,
  signal: AbortSignal,
  onStart: (watcher: RunningWatcher) => void,
): Promise<void> {
  const { pool, network, log } = options
  const { config, label, rpc, registrar } = source.chain
  const { commitment, startSlot, wsUrls } = config
  onStart({ state: unreached(network, label, startSlot) })
  const notify = createNotify()
  const unwatch =
    wsUrls.length > 0
      ? watchLogs({
          urls: wsUrls,
          programId: config.programId,
          commitments: commitment === 'confirmed' ? ['confirmed'] : ['confirmed', 'finalized'],
          onLogs: notify.notify,
          onFault: (err) => log.debug({ chain: label, err }, 'watching logs'),
        })
      : () => {}
  const start = async () => {
    const opened = await source.open()
    const watcher = createPaymentWatcher({
      ...{ pool, rpc, registrar, label, startSlot, commitment, epoch, signal },
      ...opened,
      onAnomalies: (signature, anomalies) =>
        log.warn({ network, chain: label, signature, anomalies }, 'ignored what is no event of ours'),
      onProgress: options.onProgress,
    })
    onStart(watcher)
    return watcher
  }
  let watcher: Awaited<ReturnType<typeof start>> | null = null
  let failures = 0
  let wasAlarm = false
  try {
    while (!signal.aborted) {
      const startedMs = Date.now()
      try {
        watcher ??= await start()
        const outcome = await watcher.converge()
        failures = 0
        options.onOutcome({ label }, outcome)
        logOutcome(log, network, label, outcome, wasAlarm, Date.now() - startedMs)
        wasAlarm = outcome.kind === 'missing' && outcome.isAlarm
        if (outcome.kind !== 'took') await notify.wait(config.pollMs, signal)
      } catch (error) {
        if (error instanceof LostLeadershipError || signal.aborted) throw error
        options.onOutcome({ label }, { kind: 'failed' })
        const fields = { network, chain: label, err: error, failures }
        if (failures === 0) log.warn(fields, 'a step failed; it will be tried again')
        else log.debug(fields, 'a step failed again')
        await pauseAfterError(failures, signal)
        failures += 1
      }
    }
  } finally {
    unwatch()
  }
}

const unreached = (network: Network, label: string, nextBlock: number): IndexerState => ({
  ...{ network, label, chain: 0, latest: null, confirmed: null, nextBlock, tailBlock: null },
  ...{ isCaughtUp: false, halted: null, lastStepMs: null, lastError: null },
})

function logOutcome(
  log: Logger,
  network: Network,
  label: string,
  outcome: WatchOutcome,
  wasAlarm: boolean,
  ms: number,
): void {
  const { kind, ...numbers } = outcome
  const fields = { network, chain: label, ...numbers, ms }
  if (outcome.kind === 'missing' && outcome.isAlarm && !wasAlarm)
    log.error(fields, 'payments are missing: no node lists the transactions that made them')
  else if (outcome.kind === 'took' && outcome.payments + outcome.communityPayments + outcome.closed > 0)
    log.info(fields, kind)
  else log.trace(fields, kind)
}
