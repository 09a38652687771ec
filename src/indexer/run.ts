import type pg from 'pg'
import type { TokenBalancePort } from '../chains/requirementInputs.js'
import { writeChainStates } from '../db/chains/states.js'
import { whileLeading } from '../db/leaders/lead.js'
import { type Listener, parseNotificationPayload } from '../db/pg/notify.js'
import { errorCause } from '../ops/causes.js'
import { type ChainState, isHeadStale } from '../ops/chainState.js'
import type { LeaderContext, NetworkContext } from '../ops/context.js'
import { createLoopWaker, type LoopWaker } from '../ops/waiting.js'
import { runWorkers, type Worker } from '../ops/worker.js'
import {
  createTransparencyLogWorker,
  LastSignedTransparencyLog,
  type TransparencyLogWorkerOptions,
} from '../push/transparencyLog.js'
import { Witness, type WitnessSettings } from '../push/witnesses.js'
import type { Network } from '../registry/primitives/network.js'
import { createCommunityPaymentJudgeWorker } from './judge.js'
import { createBackfillProgressLog, type IndexerCallbacks } from './progress.js'

/** A chain to index: its label, polling interval and reader of balances, and the creation of its workers. */
export interface IndexedChainSource {
  readonly label: string
  readonly pollMs: number
  /**
   * Reads token balances for decisions about payments (the payment judge), with a request quota of its own, so that API
   * requests do not delay payments.
   */
  readonly balances: TokenBalancePort
  /** Creates the chain's workers for one term of leadership. */
  watch(ctx: LeaderContext, reporting: IndexerCallbacks): Worker[]
}

/** The chains of one network, and the settings of the workers that run beside the chains' workers. */
interface NetworkChainSources {
  /** The hub and all other chains. */
  chains: readonly IndexedChainSource[]
  /** Creates the workers that maintain the network's tables, for one term of leadership. */
  maintenance(ctx: LeaderContext): Worker[]
  /** Domain in the name of the feed's signed log, the log's keys, and its witnesses. */
  log: Pick<TransparencyLogWorkerOptions, 'domain' | 'keys'> & {
    witnesses: readonly WitnessSettings[]
  }
}

export interface NetworkIndexRun {
  readonly network: Network
  /** The chains' states in this process. Null while this process does not lead. */
  states(): ChainState[] | null
  /** Resolves when the run has ended, after the context's abort signal. */
  done: Promise<void>
}

/**
 * Runs a network's indexers while this process leads the network. Each chain has its own worker, so that no chain
 * delays another.
 */
export function runIndexers(
  ctx: NetworkContext,
  sources: NetworkChainSources,
  at: { leases: pg.Pool; listener: Listener },
): NetworkIndexRun {
  const { network, log, loops, signal } = ctx
  const indexers = new Map<string, { readonly state: ChainState }>()
  const states = () => [...indexers.values()].map(({ state }) => state)
  let leads = false
  const labels = sources.chains.map(({ label }) => label)
  const logNotify = createLoopWaker()
  const logMemories = [new LastSignedTransparencyLog(), new LastSignedTransparencyLog()]
  at.listener.subscribe((payload) => {
    if (parseNotificationPayload(network, payload) === 'notify') logNotify.notify()
  })
  const onError = (err: Error) =>
    log[errorCause(err) === 'database' ? 'warn' : 'error'](
      { network, err },
      'indexing stopped; trying to lead again',
    )
  const lead = { ...at, network, role: 'index', signal, loops, log, onError } as const
  const done = whileLeading(lead, async (epoch, stopped) => {
    log.info({ network, chains: labels, epoch }, 'leading the indexing')
    const leader = { ...ctx, epoch, signal: stopped }
    const writer = createStateWriter(leader, states)
    const workers = createNetworkWorkers(leader, sources, {
      onStart: (label, indexer) => indexers.set(label, indexer),
      onAdvance: writer.onAdvance,
      logNotify,
      logMemories,
    })
    leads = true
    try {
      await runWorkers([...workers, writer.worker], leader)
    } finally {
      leads = false
      indexers.clear()
    }
  })
  return { network, states: () => (leads ? states() : null), done }
}

const WRITE_STATES_EVERY_MS = 2_000

/**
 * Creates a worker that stores the chains' states at intervals, for processes that do not index. `onAdvance` makes the
 * worker store them immediately after a change that affects quotes, and after a chain's first answer, for which a
 * starting daemon waits.
 */
function createStateWriter({ pool, network }: LeaderContext, states: () => ChainState[]) {
  const notify = createLoopWaker()
  const decisiveOf = (state: ChainState) => [
    state.isCaughtUp,
    state.tailBlock !== null,
    state.halted,
  ]
  const decisiveStates = () =>
    JSON.stringify(states().map((one) => [decisiveOf(one), isHeadStale(one, Date.now())]))
  let written = ''
  const worker: Worker = {
    name: 'the writer of states',
    fields: { network },
    pollMs: WRITE_STATES_EVERY_MS,
    notify,
    async step() {
      const now = decisiveStates()
      await writeChainStates(pool, network, states())
      written = now
      return 'idle'
    },
  }
  const onAdvance = (): void => {
    if (decisiveStates() !== written) notify.notify()
  }
  return { worker, onAdvance }
}

function createNetworkWorkers(
  ctx: LeaderContext,
  sources: NetworkChainSources,
  on: Pick<IndexerCallbacks, 'onStart' | 'onAdvance'> & {
    logNotify: LoopWaker
    /** The last signed checkpoints of the feed's log and of the evidence log. */
    logMemories: readonly LastSignedTransparencyLog[]
  },
): Worker[] {
  const { chains } = sources
  const notify = createLoopWaker()
  const onAdvance = (isNews: boolean): void => {
    if (isNews) notify.notify()
    on.onAdvance(isNews)
  }
  const reporting: IndexerCallbacks = {
    onStart: on.onStart,
    onAdvance,
    onProgress: createBackfillProgressLog(ctx.log),
  }
  const pollMs = Math.min(...chains.map((chain) => chain.pollMs))
  return [
    ...chains.flatMap((chain) => chain.watch(ctx, reporting)),
    createCommunityPaymentJudgeWorker(ctx, {
      ports: chains.map(({ balances }) => balances),
      notify,
      pollMs,
    }),
    ...on.logMemories.map((memory, i) =>
      createTransparencyLogWorker(ctx, {
        ...sources.log,
        memory,
        // witnesses sign checkpoints of the feed's log only
        ...(i === 0
          ? {
              notify: on.logNotify,
              witnesses: sources.log.witnesses.map((one) => new Witness(one)),
            }
          : { isEvidence: true, witnesses: [] }),
        onWentBack: () => ctx.loops.reportLostCommits(ctx.network),
      }),
    ),
    ...sources.maintenance(ctx),
  ]
}
