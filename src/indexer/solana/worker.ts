import { subscribeToNode } from '../../chains/rpc/subscriptions.js'
import type { LeaderContext } from '../../ops/context.js'
import type { Logger } from '../../ops/logger/logger.js'
import { createLoopWaker } from '../../ops/waiting.js'
import { IDLE_POLL_MS, type Worker } from '../../ops/worker.js'
import type { IndexerCallbacks } from '../progress.js'
import { PaymentWatcher, type PaymentWatchOutcome, type SolanaChainSource } from './watcher.js'

/** Time after a socket's notification in which each poll lists transactions, ms: nodes list new transactions late. */
const LISTED_AFTER_NOTICE_MS = 3_000

/**
 * Worker that watches a program's payments for one term of leadership. Logs of the program wake the worker, which then
 * lists transactions.
 */
export function createPaymentWatcherWorker(
  ctx: LeaderContext,
  { chain, open }: SolanaChainSource,
  reporting: IndexerCallbacks,
): Worker {
  const { network, log } = ctx
  const { config, label, rpc, registrar } = chain
  const { commitment, pollMs, wsUrls: urls, programId } = config
  const commitments =
    commitment === 'confirmed' ? [commitment] : (['confirmed', 'finalized'] as const)
  const fields = { network, chain: label }
  const notify = createLoopWaker()
  const report = createReport(log, fields)
  let notifiedMs = performance.now()
  const onLogs = (): void => {
    notifiedMs = performance.now()
    notify.notify()
  }
  const onEnd = (err?: Error): void => {
    log.debug({ chain: label, err }, 'the socket for logs has ended')
    // the watcher reads the transactions of the time without a connection
    onLogs()
  }
  const requests = commitments.map((commitment) => ({
    method: 'logsSubscribe',
    params: [{ mentions: [programId] }, { commitment }],
  }))

  const watcher = new PaymentWatcher({
    ...ctx,
    ...config,
    rpc,
    registrar,
    open,
    onUnknown: (tx, unknown) =>
      log.error({ ...fields, tx, unknown }, 'skipped what this version cannot read'),
    onProgress: reporting.onProgress,
  })
  reporting.onStart(label, watcher)
  return {
    name: 'the payment watcher',
    fields,
    notify,
    pollMs,
    idleMs: IDLE_POLL_MS,
    subscribe: () =>
      urls.length > 0
        ? subscribeToNode({ urls, requests, onNotification: onLogs, onEnd })
        : undefined,
    async step(_, alive) {
      const startedMs = Date.now()
      const wasNotified =
        urls.length === 0 || performance.now() - notifiedMs < LISTED_AFTER_NOTICE_MS
      const outcome = await watcher.step(wasNotified, alive)
      report(outcome, startedMs)
      if (outcome.kind === 'took') {
        reporting.onAdvance(true)
        return 'progressed'
      }
      const isQuiet = !wasNotified && outcome.kind === 'idle' && outcome.unconfirmed === 0
      return isQuiet ? 'idle' : 'waiting'
    },
  }
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
