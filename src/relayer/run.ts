import type pg from 'pg'
import type { SolanaSigner } from '../chains/solana/signer.js'
import { whileLeading } from '../db/pg/leader.js'
import { eventFor, type Listener } from '../db/pg/notify.js'
import { alarmFields } from '../ops/alarms.js'
import type { Context } from '../ops/context.js'
import { createNotify, type Notify } from '../ops/notify.js'
import { IDLE_POLL_MS, runWorkers, type Worker } from '../ops/worker.js'
import type { Network } from '../registry/primitives/network.js'
import type { ChainRelayerOptions } from './chainRelayer.js'
import { EvmRelayer, type EvmRelayerOptions } from './evmRelayer.js'
import { createAlarmLog, logOutcome, type OutboxState, outboxProblems } from './report.js'
import { SolanaRelayer, type SolanaRelayerOptions } from './solanaRelayer.js'
import type { RelayTarget } from './targets.js'

/** Most consecutive steps without a pause, so nodes that disagree can't make the loop spin. */
const MAX_BUSY_STEPS = 50

/** A network's Solana cluster, as far as the outbox goes. */
export interface SolanaRelayerSource
  extends Pick<SolanaRelayerOptions, 'signer' | 'releaseAfterMs'> {
  pollMs: number
  /**
   * Finds the program's chain number; asks the cluster when it was never reached before.
   * @throws ChainUnavailableError
   */
  open(): Promise<{ chain: number }>
}

export interface RelayRunOptions
  extends Omit<Context, 'metrics'>,
    Pick<EvmRelayerOptions, 'account' | 'settings'> {
  /** The chains on which transactions are sent, the hub first. */
  targets: readonly RelayTarget[]
  /** The network's Solana cluster, if any. */
  solana?: SolanaRelayerSource | undefined
  missingKeys: readonly string[]
  leases: pg.Pool
  listener: Listener
}

export interface RelayRun {
  readonly network: Network
  /** Names of the keys that this process lacks for what the network has to send. */
  readonly missingKeys: readonly string[]
  /** True if this process leads. */
  leads(): boolean
  state(): OutboxState
  /** Settles when the run has ended after its signal. */
  done: Promise<void>
}

/**
 * Runs a network's outbox while this process leads it, until the signal. One leader per network means one writer per
 * (chain, signer), since each of those belongs to one network. What is indexed and the operator wake the workers, any
 * block those with jobs under way; the chains' poll intervals are the floor. Timers live here and nowhere below.
 */
export function runRelayer(options: RelayRunOptions): RelayRun {
  const {
    pool,
    network,
    log,
    loops,
    signal,
    leases,
    listener,
    account,
    settings,
    targets,
    solana,
    missingKeys,
  } = options
  const notifies = new Set<Notify>()
  const idle: OutboxState = { network, relayers: [], payer: null }
  let state = idle
  let leads = false
  listener.subscribe((payload) => {
    const heard = eventFor(network, payload)
    if (heard) for (const told of notifies) told[heard]()
  })
  const done = whileLeading(
    {
      leases,
      listener,
      network,
      role: 'relay',
      signal,
      loops,
      onError: (err) => log.error({ network, err }, 'the outbox stopped; trying to lead again'),
    },
    async (epoch, stopped) => {
      const labels = targets.map(({ at }) => at.label)
      log.info({ network, chains: labels, delivers: account !== null, epoch }, 'leading the outbox')
      if (missingKeys.length > 0)
        log.error(
          { network, missingKeys, ...alarmFields('ClusterdRelayKeyMissing') },
          'what these keys pay for is not sent',
        )
      const logAlarms = createAlarmLog(log, network)
      const common: ChainRelayerOptions = {
        pool,
        network,
        epoch,
        onOutcome: (row, outcome) => logOutcome(log, row, outcome, Date.now()),
      }
      const everyWorker = () => {
        const notify = createNotify()
        notifies.add(notify)
        const check = () => logAlarms(outboxProblems(state, Date.now()))
        return { notify, idleMs: IDLE_POLL_MS, maxBusySteps: MAX_BUSY_STEPS, check }
      }
      const workers = targets.map((target): Worker => {
        const relayer = new EvmRelayer({ ...common, ...target, account, settings })
        state = { ...state, relayers: [...state.relayers, relayer.state] }
        const { label: chain, config } = target.at
        return {
          ...everyWorker(),
          name: 'the relayer',
          fields: { network, chain },
          pollMs: config.pollMs,
          step: (_, alive) => relayer.step(alive),
        }
      })
      if (solana) {
        let payer: SolanaRelayer | null = null
        workers.push({
          ...everyWorker(),
          name: 'the payer',
          fields: { network },
          pollMs: solana.pollMs,
          // opened at its first step: a cluster that is away delays no chain
          async step(_, alive) {
            if (!payer) {
              const { chain } = await solana.open()
              await reportAuthority(options, solana.signer)
              payer = new SolanaRelayer({ ...common, ...solana, chain })
              state = { ...state, payer: payer.state }
            }
            return payer.step(alive)
          },
        })
      }
      leads = true
      try {
        await runWorkers(workers, { log, loops, signal: stopped })
      } finally {
        leads = false
        state = idle
        notifies.clear()
      }
    },
  )
  return { network, missingKeys, leads: () => leads, state: () => state, done }
}

/** Says whose decisions the program obeys: a key that was rotated decides nothing. */
async function reportAuthority(
  { log, network }: RelayRunOptions,
  signer: SolanaSigner | null,
): Promise<void> {
  if (!signer)
    return log.info(
      { network },
      "without the relay authority's key payments are neither settled nor refunded",
    )
  const authority = signer.authority.toBase58()
  const obeyed = (await signer.relayAuthority())?.toBase58() ?? null
  if (authority === obeyed) log.info({ network, authority }, 'deciding payments on Solana')
  else
    log.error(
      { network, authority, obeyed },
      "the relay authority's key is not the one that the program obeys",
    )
}
