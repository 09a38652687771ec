import type pg from 'pg'
import type { Hex } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { REFUSAL_GAS } from '../chains/evm/community/ending.js'
import { GasPriceCap, readFees } from '../chains/evm/gasPrice.js'
import { absentAccount } from '../chains/evm/relayerAccount.js'
import { createNonceSender, type Memo } from '../chains/evm/signer.js'
import type { DeliverySettings } from '../config/index.js'
import { messagesToQueue, type SentMessage, settleMessages, stuckMessages } from '../db/bridge/openMessages.js'
import { assertRelayer } from '../db/journal/head.js'
import { dueNonceJobs, findJobs, hasLiveJobs, jobsOfOthers, wakeJobs } from '../db/outbox/due.js'
import { formBatches, insertJobs, type NewJob, type SignerKey } from '../db/outbox/jobs.js'
import { queueReleases } from '../db/outbox/payouts.js'
import { endParked, weighRefusals } from '../db/outbox/refusals.js'
import type { JobRow } from '../db/outbox/rows.js'
import { type OpenJobs, openJobs, type SignerStats, signerStats } from '../db/outbox/stats.js'
import { undeliveredPayments } from '../db/payments/open.js'
import { inTransaction } from '../db/pg/pool.js'
import { failpoint } from '../ops/failpoint.js'
import type { StepResult } from '../ops/worker.js'
import type { NonceTx } from '../registry/outbox.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import { advanceJobs, isProgress } from './batch.js'
import { callOf, isVoid } from './calls.js'
import { type Policy, REPLACE_AFTER_BLOCKS } from './machine/index.js'
import { parked } from './machine/job.js'
import { NonceKeeper } from './nonces.js'
import { decideMessage } from './packets.js'
import type { Clock, Outcome, Ports } from './step.js'
import { storeOf } from './store.js'
import type { DeliveryPath, RelayTarget } from './targets.js'

const STATS_EVERY_MS = 5_000
const DAY_MS = 86_400_000
const RELEASES_EVERY_MS = 60_000

export interface RelayerOptions extends RelayTarget {
  pool: pg.Pool
  network: Network
  /** The account that pays; null: only watch. */
  account: LocalAccount | null
  settings: DeliverySettings
  epoch: number
  clock?: Clock | undefined
  /** Gets each step of each job, with what is stored after it. */
  onOutcome?: ((row: JobRow<NonceTx>, outcome: Outcome) => void) | undefined
  /** Gets the messages that the hub has not received in time, oldest first, at every step. */
  onStuck?: ((messages: readonly StuckMessage[]) => void) | undefined
}

export type StuckMessage = Pick<SentMessage, 'guid' | 'sentMs'>

export interface RelayerState {
  network: Network
  /** Who signs; null without a key. */
  signer: Hex | null
  /** Label of the chain. */
  chain: string
  /** `open`: the jobs of all the network's EVM chains. */
  stats: (SignerStats & { open: readonly OpenJobs[] }) | null
  /** Messages that the hub has not received in time, counted up to a bound; null where none are carried. */
  stuck: number | null
  nonceGaps: number
  /** The signer's count on the chain, where it is so far above the stored one that an operator has to confirm it. */
  nonceClaimed: number | null
  balanceWei: bigint | null
  /**
   * Time for which the balance lasts at the spending of the last 24 hours; null while nothing was spent, 0 while a job
   * waits for funds.
   */
  runwayMs: number | null
}

/** Runs the jobs of one EVM chain of a network, by one signer. */
export class Relayer {
  readonly state: RelayerState
  readonly #options: RelayerOptions
  readonly #clock: Clock
  readonly #policy: Omit<Policy, 'gasPriceCapWei'>
  readonly #gasPriceCap: GasPriceCap
  readonly #key: SignerKey | null
  readonly #nonces: NonceKeeper | null
  readonly #isLocal: boolean
  #statsAtMs = Number.NEGATIVE_INFINITY
  #releasesAtMs = Number.NEGATIVE_INFINITY

  constructor(options: RelayerOptions) {
    const { network, at, path, account, settings } = options
    this.#options = options
    this.#clock = options.clock ?? { nowMs: Date.now, random: Math.random }
    this.#policy = {
      spendCapWei: settings.spendCapWei,
      replaceAfterBlocks: REPLACE_AFTER_BLOCKS,
      pollMs: at.chain.config.pollMs,
    }
    this.#gasPriceCap = new GasPriceCap(at.chain.rpc, at.chain.config, this.#clock.nowMs)
    this.#key = account && { network, chain: at.number, signer: fromHex(account.address) }
    this.#nonces = account && this.#key && this.#nonceKeeper(account, this.#key)
    this.#isLocal = path?.lane.hub.isLocal ?? false
    this.state = {
      ...{ network, signer: account?.address ?? null, chain: at.chain.label, stats: null, stuck: path && 0 },
      ...{ nonceGaps: 0, nonceClaimed: null, balanceWei: null, runwayMs: null },
    }
  }

  #nonceKeeper(account: LocalAccount, key: SignerKey): NonceKeeper {
    const { pool, at, epoch, settings } = this.#options
    return new NonceKeeper({
      ...{ pool, key, signer: { chain: at.chain, account }, epoch, nowMs: this.#clock.nowMs },
      gasPriceCapWei: () => this.#gasPriceCap.wei(),
      dailyCapWei: settings.dailyCapWei,
    })
  }

  /**
   * Runs one step, without timers: queues jobs for new messages and payments, mends nonces, and advances each job.
   * @returns `progressed` when something was stored, so that there may be more to do now
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  async step(): Promise<StepResult> {
    const { pool, path } = this.#options
    let isProgressed = (path ? await this.#queue(path) : 0) + (await this.#queueEndings()) > 0
    const isBusy = this.#key !== null && (await hasLiveJobs(pool, this.#key))
    // a chain to which nothing is carried is asked only where a job waits
    if (this.#key && this.#nonces && (path || isBusy)) {
      const kept = await this.#nonces.step()
      isProgressed ||= kept.mended > 0
      this.state.nonceGaps = this.#nonces.gaps
      this.state.nonceClaimed = this.#nonces.claimed
      await formBatches(pool, this.#key, { epoch: this.#options.epoch, nowMs: this.#clock.nowMs() })
      const due = [
        ...(await dueNonceJobs(pool, this.#key, this.#clock.nowMs())),
        ...(await jobsOfOthers(pool, this.#key)),
      ]
      const hasStored = await this.#advance(kept.isSound ? due : due.filter(({ nonce }) => nonce !== null))
      isProgressed ||= hasStored
    }
    if (isProgressed || Math.abs(this.#clock.nowMs() - this.#statsAtMs) >= STATS_EVERY_MS) await this.#takeStats()
    if (isProgressed) return 'progressed'
    return isBusy || this.state.nonceGaps > 0 ? 'waiting' : 'idle'
  }

  /**
   * Queues jobs, each once, for every confirmed message that the hub has not received (on public networks for stuck
   * ones alone), and for every confirmed payment that keeps to a quote of ours, which nobody else carries.
   */
  async #queue(path: DeliveryPath): Promise<number> {
    const { pool, network, epoch, account, settings, onStuck } = this.#options
    const nowMs = this.#clock.nowMs()
    const stuckMs = nowMs - settings.strandedAfterMs
    const delivers = account !== null && (this.#isLocal || settings.executeStranded)
    const { queued, stuck } = await inTransaction(pool, async (client) => {
      await assertRelayer(client, network, epoch)
      await settleMessages(client, network, nowMs)
      const sentBeforeMs = this.#isLocal ? Number.MAX_SAFE_INTEGER : stuckMs
      const fresh = delivers ? await messagesToQueue(client, network, sentBeforeMs) : []
      const payments = account ? await undeliveredPayments(client, network) : []
      const jobs = [...fresh.flatMap((message) => this.#jobsFor(message, path)), ...payments.map(this.#deliveryOf)]
      return {
        queued: jobs.length > 0 ? await insertJobs(client, network, jobs, nowMs) : 0,
        stuck: await stuckMessages(client, network, stuckMs),
      }
    })
    if (queued > 0) failpoint('relay.queued')
    this.state.stuck = stuck.length
    onStuck?.(stuck)
    return queued
  }

  /**
   * Queues releases of payments for community names, leaves to their payers what is worth less than its refusal, while
   * it is, and ends what is parked and not held any more.
   * @returns how many jobs it changed
   */
  async #queueEndings(): Promise<number> {
    const { pool, network, at, epoch, settings } = this.#options
    const { releaseAfterMs, refusalWorth } = settings
    if (!this.#key || at.chain.communityPayments === null) return 0
    const nowMs = this.#clock.nowMs()
    const isTime = Math.abs(nowMs - this.#releasesAtMs) >= Math.min(releaseAfterMs, RELEASES_EVERY_MS)
    const weighs = refusalWorth > 0 && (isTime || (await hasLiveJobs(pool, this.#key)))
    if (!isTime && !weighs) return 0
    const leastWei = weighs ? await this.#leastWei(refusalWorth) : 0n
    const key = this.#key
    const changed = await inTransaction(pool, async (client) => {
      await assertRelayer(client, network, epoch)
      const released = isTime ? await queueReleases(client, key, { releaseAfterMs, nowMs }) : 0
      const ended = isTime ? await endParked(client, key, nowMs) : 0
      return released + ended + (weighs ? await weighRefusals(client, key, leastWei) : 0)
    })
    if (isTime) this.#releasesAtMs = nowMs
    return changed
  }

  /** What a payment has to be worth so that it is refused, wei. */
  async #leastWei(worth: number): Promise<bigint> {
    const { rpc } = this.#options.at.chain
    const { maxFeePerGas, maxPriorityFeePerGas } = await rpc.onOneNode((ask) => readFees(rpc, ask))
    // half of the fee's limit is room for the base fee to rise
    const priceWei = (maxFeePerGas + maxPriorityFeePerGas) / 2n
    return (REFUSAL_GAS * priceWei * BigInt(Math.round(worth * 1_000))) / 1_000n
  }

  readonly #deliveryOf = (subject: Buffer): NewJob => ({ kind: 'deliver', chain: this.#options.at.number, subject })

  /**
   * New jobs of a message. Local networks have no other verifier; a refused execution is queued to show up as parked.
   */
  #jobsFor(message: SentMessage, { lane, messageLib }: DeliveryPath): NewJob[] {
    const job = { chain: this.#options.at.number, subject: message.guid }
    const decision = decideMessage(message, lane)
    const valueWei = 'refusal' in decision ? 0n : decision.option.value
    const execute: NewJob = { ...job, kind: 'execute', valueWei }
    const isVerifiedHere = messageLib !== null && decision.packet !== null
    return isVerifiedHere ? [{ ...job, kind: 'verify' }, execute] : [execute]
  }

  /** @returns whether something was stored */
  async #advance(due: readonly JobRow<NonceTx>[]): Promise<boolean> {
    const { pool, network, onOutcome } = this.#options
    if (due.length === 0) return false
    const gasPriceCapWei = await this.#gasPriceCap.wei()
    const advanced = await advanceJobs(due, {
      policy: { ...this.#policy, gasPriceCapWei },
      portsOf: (row, memo) => this.#portsOf(row, memo),
      reload: (ids) => findJobs<NonceTx>(pool, network, ids),
      onOutcome,
    })
    return advanced.some(({ outcomes }) => outcomes.some(isProgress))
  }

  #portsOf(row: JobRow<NonceTx>, memo: Memo): Ports | (() => Promise<Outcome>) {
    const { pool, at, path, account, epoch, settings } = this.#options
    const { dailyCapWei } = settings
    if (!account || !this.#key) return async () => ({ outcome: 'ended' })
    const clock = this.#clock
    // a nonce stays with the key that it was given of, through a rotation too
    const isOwn = row.nonce === null || row.signer!.equals(this.#key.signer)
    const [signer, by] = isOwn ? [this.#key.signer, account] : [row.signer!, absentAccount(toHex(row.signer!))]
    const key = { ...this.#key, signer }
    const store = storeOf(pool, row, { key, epoch, nowMs: clock.nowMs, dailyCapWei })
    const call = callOf(row, path, at.chain.config.communityPayments, clock.nowMs())
    const isOut = row.nonce !== null
    const reason = typeof call === 'string' ? call : isVoid(row, clock.nowMs()) ? 'reclaimed' : null
    // what is signed stays valid until a cancel has used its nonce up; then it is parked as what was never signed
    if (isOut && reason !== null && row.release === null) {
      const failed = { outcome: 'failed', failure: { class: 'permanent', reason } } as const
      return async () =>
        (await store.save({ ...row, release: 'queue', reason, nextMs: 0 })) ? failed : { outcome: 'stale' }
    }
    if (isOut || typeof call === 'object') {
      const made = typeof call === 'object' ? call : ({ kind: 'noop' } as const)
      return { sender: createNonceSender({ chain: at.chain, account: by }, made, memo), store, clock }
    }
    // one that can't go holds up no other
    const isAlone = row.followers.length === 0
    const after = isAlone ? parked(row, call) : { ...row, alone: true }
    return async () => ({ outcome: (await store.save(after)) ? (isAlone ? 'parked' : 'parted') : 'stale' })
  }

  async #takeStats(): Promise<void> {
    const { pool, network, at, account } = this.#options
    const nowMs = this.#clock.nowMs()
    const chain = { network, chain: at.number }
    const [open, signer] = await Promise.all([
      openJobs(pool, network, 'evm'),
      signerStats(pool, chain, this.#key?.signer ?? null, nowMs),
    ])
    this.state.stats = { open, ...signer }
    // the clock was set back: what it put off goes on with the next balance
    if (nowMs < this.#statsAtMs) this.state.balanceWei = null
    this.#statsAtMs = nowMs
    if (!account) return
    await this.#takeBalance(account)
    const { spentLastDayWei, isDry } = signer
    const { balanceWei } = this.state
    if (isDry || balanceWei === 0n) this.state.runwayMs = 0
    else this.state.runwayMs = spentLastDayWei === 0n ? null : (Number(balanceWei) / Number(spentLastDayWei)) * DAY_MS
  }

  /** Reads the signer's balance; the first, and a higher one, lets go on what waits for funds. */
  async #takeBalance({ address }: LocalAccount): Promise<void> {
    const { pool, network, at } = this.#options
    const before = this.state.balanceWei
    const balanceWei = BigInt(await at.chain.rpc.call<Hex>('eth_getBalance', [address, 'latest']))
    if (before === null || balanceWei > before) await wakeJobs(pool, { network, chain: at.number }, this.#clock.nowMs())
    this.state.balanceWei = balanceWei
  }
}
