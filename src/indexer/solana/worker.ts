import { watchProgramLogs } from '../../chains/rpc/logs.js'
import type { SolanaChain } from '../../chains/solana/chain.js'
import { chainErrorSentence } from '../../ops/causes.js'
import type { LeaderContext } from '../../ops/context.js'
import type { Logger } from '../../ops/log/log.js'
import { createWakeUp } from '../../ops/notify.js'
import { StageClock } from '../../ops/stages.js'
import type { Worker } from '../../ops/worker.js'
import { initialChainState } from '../evm/types.js'
import type { IndexerCallbacks } from '../progress.js'
import type { PaymentProgramIdentity } from './row.js'
import type { PaymentWatchOutcome } from './types.js'
import type { PaymentWatcher } from './watcher.js'

/** Time after a socket's notification in which each poll lists transactions, ms: nodes list them late. */
const LISTED_AFTER_NOTICE_MS = 3_000
/** Shortest poll interval while no payment is pending and a socket is open, ms: the interval for a public cluster. */
const QUIET_POLL_MS = 2_000

/** A network's Solana cluster as the daemon opened it. */
export interface SolanaChainSource {
  chain: SolanaChain
  /**
   * The program's identity and the chain's number in the database. Calls the cluster if it was never reached before.
   * @throws ChainUnavailableError
   */
  open(): Promise<{ identity: PaymentProgramIdentity; chain: number }>
}

/** Watches a program's payments. Logs of the program wake the worker, which then lists transactions. */
export function paymentWatcherWorker(
  ctx: LeaderContext,
  source: SolanaChainSource,
  reporting: IndexerCallbacks,
): Worker {
  const { network, log } = ctx
  const { config, label } = source.chain
  const { commitment, startSlot, pollMs, wsUrls, programId } = config
  const commitments =
    commitment === 'confirmed' ? [commitment] : (['confirmed', 'finalized'] as const)
  const fields = { network, chain: label }
  const notify = createWakeUp()
  const report = createReport(log, fields)
  let watcher: PaymentWatcher | null = null
  let notifiedMs = performance.now()
  const onLogs = (): void => {
    notifiedMs = performance.now()
    notify.notify()
  }

  const onFault = (err: Error) => log.debug({ chain: label, err }, 'watching logs')

  const named = { network, label, chain: 0, nextBlock: startSlot }
  const stages = new StageClock()
  const unopened = { state: initialChainState(named, stages) }
  reporting.onStart(label, unopened)
  return {
    name: 'the payment watcher',
    fields,
    notify,
    pollMs,
    idleMs: QUIET_POLL_MS,
    subscribe: () =>
      wsUrls.length > 0
        ? watchProgramLogs({ urls: wsUrls, programId, commitments, onLogs, onFault })
        : undefined,
    async step(_, alive) {
      watcher ??= await stages.during('node', () => openWatcher(ctx, source, reporting, stages))
      const startedMs = Date.now()
      const wasNotified =
        wsUrls.length === 0 || performance.now() - notifiedMs < LISTED_AFTER_NOTICE_MS
      const outcome = await watcher.step(wasNotified, alive)
      report(outcome, startedMs)
      if (outcome.kind !== 'took')
        return wasNotified || outcome.kind !== 'idle' || outcome.unconfirmed > 0
          ? 'waiting'
          : 'idle'
      reporting.onAdvance(true)
      return 'progressed'
    },
    onFailure(error) {
      Object.assign(unopened.state, {
        lastError: chainErrorSentence(error),
        lastStepMs: Date.now(),
      })
    },
  }
}

async function openWatcher(
  ctx: LeaderContext,
  { chain, open }: SolanaChainSource,
  reporting: IndexerCallbacks,
  stages: StageClock,
): Promise<PaymentWatcher> {
  const { config, label, rpc, registrar } = chain
  const fields = { network: ctx.network, chain: label }
  // this module loads Solana's libraries, so it is imported only when a watcher opens
  const watching = await import('./watcher.js')
  const opened = new watching.PaymentWatcher({
    ...ctx,
    ...config,
    rpc,
    registrar,
    stages,
    ...(await open()),
    onUnknown: (tx, unknown) =>
      ctx.log.error({ ...fields, tx, unknown }, 'skipped what this version cannot read'),
    onProgress: reporting.onProgress,
  })
  reporting.onStart(label, opened)
  return opened
}

/** Creates the function that logs the outcome of each step. An alarm about missing payments is logged once. */
function createReport(log: Logger, fields: Worker['fields']) {
  let wasAlarm = false
  return (outcome: PaymentWatchOutcome, startedMs: number): void => {
    const { kind, ...numbers } = outcome
    const line = { ...fields, ...numbers, ms: Date.now() - startedMs }
    const isAlarm = outcome.kind === 'missing' && outcome.isAlarm
    if (isAlarm && !wasAlarm) log.error(line, 'payments are missing')
    else if (isNews(outcome)) log.info(line, kind)
    else log.trace(line, kind)
    wasAlarm = isAlarm
  }
}

const isNews = (outcome: PaymentWatchOutcome): boolean =>
  outcome.kind === 'took' && outcome.payments + outcome.communityPayments + outcome.outcomes > 0
