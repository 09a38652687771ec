import PQueue from 'p-queue'
import type { NodeNumbers } from '../../ops/rpcMetrics.js'
import { ChainUnavailableError } from '../chain.js'
import { RefutedError, RpcError } from './errors.js'
import type { HeadVerdict } from './headChoice.js'

/** A JSON-RPC call; resolves to the node's `result`, undecoded. */
export type Call = <T>(method: string, params: readonly unknown[]) => Promise<T>

/** A node that serves another chain; looked at again after a while. */
export class WrongChainError extends Error {
  override name = 'WrongChainError'
}

/** Share of a node that a use may take, so it leaves room to the others. */
export interface Share {
  atOnce: number
  perSecond: number
  /** Calls that wait for their turn; more are refused. */
  waiting: number
  /** Time limit of a call, ms, where it is shorter than the method's. */
  limitMs?: number
}

const REST_BASE_MS = 250
const REST_MAX_MS = 300_000
/** Bounds the time for which a node is not asked after a rate limit: the pause that it named, or none. */
const MUTE_MAX_MS = { named: 30_000, unnamed: 5_000 }
/** Pause before a node of another chain is looked at again: one answer may have been another's. */
const WRONG_REST_MS = 30_000
/** Time for which a node is asked after others, once the chain has refuted its answer. */
const REFUTED_MS = 600_000
/** Weight of the newest answer in the latency. */
const LATENCY_WEIGHT = 0.2

/** A node of a pool: its faults, rests and numbers. Its times are of the clock that nobody sets. */
export class Node {
  readonly host: string
  readonly call: Call
  /** The check that it is of the right chain, shared by those who ask at once; null before and after a fault. */
  checked: Promise<void> | null = null
  /** True if a question in the background, which shows whether it answers again, is under way. */
  isProbed = false
  head: HeadVerdict | null = null
  /** The reason not to use it for being of another chain. */
  wrong: WrongChainError | null = null
  #faultsInARow = 0
  #restUntilMs = 0
  /** True if it rests because it asked to. */
  #isMuted = false
  #behindUntilMs = 0
  #refutedUntilMs = 0
  #requests = 0
  #errors = 0
  #latencyMs: number | null = null

  constructor(
    readonly url: string,
    call: Call,
    share?: Share,
  ) {
    this.host = new URL(url).host
    const queue =
      share &&
      new PQueue({ concurrency: share.atOnce, interval: 1_000, intervalCap: share.perSecond })
    const counted: Call = (method, params) => this.#count(() => call(method, params))
    this.call = !queue
      ? counted
      : <T>(method: string, params: readonly unknown[]) => {
          if (queue.size >= share.waiting)
            throw new ChainUnavailableError(`too many questions wait for ${this.host}`)
          return queue.add(() => counted<T>(method, params)) as Promise<T>
        }
  }

  /** True if it asked not to be called, which is respected even when all others fail. */
  isMuted = (nowMs: number): boolean => this.#isMuted && this.#restUntilMs > nowMs

  /** Order of preference: 0 for a healthy node, 1 for one behind others, then those with faults by their rests. */
  rank(nowMs: number): number {
    if (this.#faultsInARow > 0) return Math.max(2, this.#restUntilMs)
    return Math.max(this.#behindUntilMs, this.#refutedUntilMs) > nowMs ? 1 : 0
  }

  /** True if it failed more than once in a row. */
  isAway = (): boolean => this.#faultsInARow > 1

  /** True if it had faults and may be looked at again. */
  needsProbe = (nowMs: number): boolean =>
    !this.isProbed && this.#faultsInARow > 0 && this.#restUntilMs <= nowMs

  answered(): void {
    this.#faultsInARow = 0
    this.#restUntilMs = 0
    this.wrong = null
  }

  /** Rests after a fault, longer after each. */
  rest(error: RpcError | WrongChainError, nowMs: number): void {
    // calls that failed together are one fault
    if (this.#restUntilMs <= nowMs || this.#faultsInARow === 0) this.#faultsInARow += 1
    // another node may listen at the same address after an outage (a restarted local chain)
    this.checked = null
    const backOffMs = Math.min(
      REST_MAX_MS,
      REST_BASE_MS * 2 ** Math.min(this.#faultsInARow - 1, 20),
    )
    this.wrong = error instanceof WrongChainError ? error : null
    if (error instanceof RefutedError) this.#refutedUntilMs = nowMs + REFUTED_MS
    this.#isMuted = error instanceof RpcError && error.fault === 'rate_limited'
    const restMs = error instanceof RpcError ? (error.retryAfterMs ?? backOffMs) : WRONG_REST_MS
    const isNamed = error instanceof RpcError && error.retryAfterMs !== null
    const mostMs = isNamed ? MUTE_MAX_MS.named : MUTE_MAX_MS.unnamed
    this.#restUntilMs = nowMs + (this.#isMuted ? Math.min(restMs, mostMs) : restMs)
  }

  /** Is tried after others for a while. */
  setBehind(untilMs: number): void {
    this.#behindUntilMs = untilMs
  }

  health(nowMs: number): NodeNumbers {
    const restMs = Math.max(0, this.#restUntilMs - nowMs, this.#behindUntilMs - nowMs)
    const numbers = { requests: this.#requests, errors: this.#errors, latencyMs: this.#latencyMs }
    const isWrong = this.wrong !== null || this.#refutedUntilMs > nowMs
    return { host: this.host, ...numbers, restMs, isWrong, head: this.head }
  }

  async #count<T>(ask: () => Promise<T>): Promise<T> {
    const startedMs = performance.now()
    this.#requests += 1
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof RpcError) || isFaultOfNode(error)) this.#errors += 1
      throw error
    } finally {
      const ms = performance.now() - startedMs
      this.#latencyMs =
        this.#latencyMs === null ? ms : this.#latencyMs + LATENCY_WEIGHT * (ms - this.#latencyMs)
    }
  }
}

/** True if another node may answer otherwise. */
export const isFaultOfNode = ({ fault }: RpcError): boolean =>
  fault === 'transient' || fault === 'rate_limited'
