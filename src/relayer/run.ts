import type pg from 'pg'
import type { SolanaSigner } from '../chains/solana/signer.js'
import { readChainStates } from '../db/deployment/chainStates.js'
import { whileLeading } from '../db/pg/leader.js'
import { eventFor, type Listener } from '../db/pg/notify.js'
import { alarmFields } from '../ops/alarms.js'
import type { Context } from '../ops/context.js'
import { createNotify, type Notify } from '../ops/notify.js'
import type { ErrorPlace } from '../ops/ownErrors.js'
import { IDLE_POLL_MS, runWorkers, type Worker } from '../ops/worker.js'
import type { Network } from '../registry/primitives/network.js'
import { aboutJob, type ChainRelayerOptions } from './chainRelayer.js'
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
  const { network, log, loops, signal, leases, listener, missingKeys } = options
  const idle: OutboxState = { network, relayers: [], payer: null }
  let led: LedOutbox | null = null

  listener.subscribe((payload) => {
    const heard = eventFor(network, payload)
    if (heard) led?.wake(heard)
  })
  const onError = (err: Error) =>
    log.error({ network, err }, 'the outbox stopped; trying to lead again')
  const done = whileLeading(
    { leases, listener, network, role: 'relay', signal, loops, onError },
    async (epoch, stopped) => {
      logLead(options, epoch)
      led = new LedOutbox(options, epoch)
      try {
        await runWorkers(led.workers, { log, loops, signal: stopped })
      } finally {
        led = null
      }
    },
  )
  return {
    network,
    missingKeys,
    leads: () => led !== null,
    state: () => led?.state ?? idle,
    done,
  }
}

function logLead({ network, log, targets, account, missingKeys }: RelayRunOptions, epoch: number) {
  const chains = targets.map(({ at }) => at.label)
  log.info({ network, chains, delivers: account !== null, epoch }, 'leading the outbox')
  if (missingKeys.length > 0)
    log.error(
      { network, missingKeys, ...alarmFields('ClusterdRelayKeyMissing') },
      'what these keys pay for is not sent',
    )
}

/** The outbox while this process leads it: a worker for each chain. */
class LedOutbox {
  readonly workers: readonly Worker[]
  state: OutboxState
  readonly #options: RelayRunOptions
  readonly #epoch: number
  readonly #notifies = new Set<Notify>()
  readonly #logAlarms: ReturnType<typeof createAlarmLog>

  constructor(options: RelayRunOptions, epoch: number) {
    const { log, network, targets, solana } = options
    this.#options = options
    this.#epoch = epoch
    this.#logAlarms = createAlarmLog(log, network)
    this.state = { network, relayers: [], payer: null }
    const workers = targets.map((target) => this.#evmWorker(target))
    const all = solana ? [...workers, this.#solanaWorker(solana)] : workers
    this.workers = all.map((worker) => ({
      ...worker,
      step: async (signal, alive) =>
        (await this.#isByOneNode()) ? 'waiting' : worker.step(signal, alive),
    }))
  }

  /** True while `singleNodeAfter` lets names be indexed by one of two nodes: no money moves by its answers. */
  async #isByOneNode(): Promise<boolean> {
    const { pool, network, targets } = this.#options
    if (targets.every(({ at }) => !at.config.singleNodeAfter)) return false
    return (await readChainStates(pool)).some(
      ({ state }) => state.network === network && (state.trustNodes ?? 2) < state.nodesWanted,
    )
  }

  wake(heard: 'notify' | 'block'): void {
    for (const notify of this.#notifies) notify[heard]()
  }

  #evmWorker(target: RelayTarget): Worker {
    const { network, account, settings } = this.#options
    const { label: chain, config } = target.at
    const name = 'the relayer'
    const fields = { network, chain }
    const common = this.#relayerOptions({ name, ...fields })
    const relayer = new EvmRelayer({ ...common, ...target, account, settings })
    this.state = { ...this.state, relayers: [...this.state.relayers, relayer.state] }
    return {
      ...this.#workerOptions(),
      name,
      fields,
      pollMs: config.pollMs,
      step: (_, alive) => relayer.step(alive),
    }
  }

  /** Its relayer is opened at the first step: a cluster that is away delays no chain. */
  #solanaWorker(source: SolanaRelayerSource): Worker {
    const { network } = this.#options
    const name = 'the payer'
    const common = this.#relayerOptions({ name, network })
    let payer: SolanaRelayer | null = null
    const open = async (): Promise<SolanaRelayer> => {
      const { chain } = await source.open()
      await reportAuthority(this.#options, source.signer)
      const opened = new SolanaRelayer({ ...common, ...source, chain })
      this.state = { ...this.state, payer: opened.state }
      return opened
    }
    return {
      ...this.#workerOptions(),
      name,
      fields: { network },
      pollMs: source.pollMs,
      async step(_, alive) {
        payer ??= await open()
        return payer.step(alive)
      },
    }
  }

  /** @param at place in which errors of our own code are counted */
  #relayerOptions(at: ErrorPlace): ChainRelayerOptions {
    const { pool, network, log, loops } = this.#options
    return {
      pool,
      network,
      epoch: this.#epoch,
      onOutcome: (row, outcome) => logOutcome(log, row, outcome, Date.now()),
      onUnreachable: (row, err) =>
        log.debug({ network, ...aboutJob(row), err }, 'the chain could not be asked'),
      onOwnError: (error, about) => loops.ownErrors.report(at, error, log, about),
    }
  }

  #workerOptions() {
    const notify = createNotify()
    this.#notifies.add(notify)
    const check = () => this.#logAlarms(outboxProblems(this.state, Date.now()))
    return { notify, idleMs: IDLE_POLL_MS, maxBusySteps: MAX_BUSY_STEPS, check }
  }
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
