import PQueue from 'p-queue'
import { ChainBusyError } from '../chain.js'
import { RefutedAnswerError, RpcError, WrongChainError } from './errors.js'
import type { HeadVerdict } from './headChoice.js'

/** A JSON-RPC call; resolves to the node's `result`, undecoded. */
export type RpcCall = <T>(method: string, params: readonly unknown[]) => Promise<T>

/**
 * Counters of a chain's node for the requests of one consumer, with times in ms. Nodes are identified by their host,
 * since the path of a URL may hold a key.
 */
export interface NodeCounters {
  host: string
  requests: number
  errors: number
  /** Moving average. Null before the first call. */
  latencyMs: number | null
  /** Time until the node's rest ends and its head no longer counts as behind. 0 where both are over. */
  restMs: number
  /** True if the node serves another chain, or an answer was refuted within `REFUTED_MS`. */
  isWrong: boolean
  /** Null before the first comparison of heads. */
  head: HeadVerdict | null
}

/** Limits of a consumer's calls to a node, so that the node's other consumers are not delayed. */
export interface NodeCallLimits {
  atOnce: number
  perSecond: number
  /** Maximum number of calls in the queue. Further calls are refused. */
  waiting: number
  /** Timeout of a call, ms, where it is shorter than the method's. */
  limitMs?: number
}

/**
 * Parts of the daemon that call nodes, besides the indexer. Each has its own back-offs and call limits, so that no part
 * delays another. `relay` is the relayer. `judge` reads balances to decide payments, and a mirror's names from the hub.
 * The API's requests use `api` (quotes, payments), `refunds`, `status`, `tokens` and `wallets`.
 */
export type NodeConsumer = 'relay' | 'judge' | 'api' | 'refunds' | 'status' | 'tokens' | 'wallets'

/** Limits the calls to a node that anonymous API requests of one kind can cause. */
const STRANGER_CALL_LIMITS: NodeCallLimits = { atOnce: 32, perSecond: 100, waiting: 200 }
/**
 * Limits of each consumer's calls to a node. The limit of `judge` allows all of its concurrent requests. `relay` has no
 * limit, because no anonymous request causes its calls.
 */
export const NODE_CALL_LIMITS_BY_CONSUMER: Readonly<
  Record<NodeConsumer, NodeCallLimits | undefined>
> = {
  relay: undefined,
  judge: { atOnce: 8, perSecond: 100, waiting: 500 },
  api: STRANGER_CALL_LIMITS,
  // shorter than the 5 s for which a request for refunds waits (`CHAIN_WAIT_MS` in `refunds.ts`), so that another node
  // can be asked after one that hangs
  refunds: { ...STRANGER_CALL_LIMITS, limitMs: 3_000 },
  // clients poll the status, so a quick error about an unavailable chain is better than a late answer
  status: { ...STRANGER_CALL_LIMITS, limitMs: 3_000 },
  tokens: STRANGER_CALL_LIMITS,
  // clients wait to sign in: a short timeout leaves time to ask another node after one that hangs
  wallets: { ...STRANGER_CALL_LIMITS, limitMs: 2_000 },
}

/** Rest after a first fault, ms. Each further fault doubles it, up to `REST_MAX_MS`. */
const REST_BASE_MS = 250
const REST_MAX_MS = 300_000
/** Longest rest after a rate limit, ms: where the node named a pause (Retry-After), and where it did not. */
const MUTE_MAX_MS = { named: 30_000, unnamed: 5_000 }
/** Pause before a node of another chain is checked again, ms: a proxy may have mixed up one answer. */
const WRONG_REST_MS = 30_000
/** How long healthy nodes are preferred to a node after data proved on the chain has refuted its answer, ms. */
const REFUTED_MS = 600_000
/** Weight of the newest answer in the moving average of the latency. */
const LATENCY_WEIGHT = 0.2

/**
 * A node of a pool, with its faults, its rests (pauses after faults) and its counters. Times are of the monotonic
 * clock.
 */
export class RpcNode {
  readonly host: string
  readonly call: RpcCall
  /**
   * The pending or finished check of the node's chain, shared by concurrent calls. Null before the check and after a
   * fault.
   */
  chainCheck: Promise<void> | null = null
  /** True while a background call checks whether the node answers again. */
  isProbed = false
  head: HeadVerdict | null = null
  /** Error of the last check if the node serves another chain. Null otherwise. */
  wrong: WrongChainError | null = null
  #faultsInARow = 0
  #restUntilMs = 0
  /** True if the node itself asked for the present rest, by a rate limit. */
  #isMuted = false
  #behindUntilMs = 0
  #refutedUntilMs = 0
  #requests = 0
  #errors = 0
  #latencyMs: number | null = null

  constructor(
    readonly url: string,
    call: RpcCall,
    limits?: NodeCallLimits,
  ) {
    this.host = new URL(url).host
    const queue =
      limits &&
      new PQueue({ concurrency: limits.atOnce, interval: 1_000, intervalCap: limits.perSecond })
    const counted: RpcCall = (method, params) => this.#count(() => call(method, params))
    this.call = !queue
      ? counted
      : // async, so that a refused call rejects. If it threw, the promises of the caller's concurrent calls would be
        // unhandled
        async <T>(method: string, params: readonly unknown[]) => {
          if (queue.size >= limits.waiting)
            throw new ChainBusyError(`too many questions wait for ${this.host}`)
          return queue.add(() => counted<T>(method, params)) as Promise<T>
        }
  }

  /** True if the node asked not to be called yet. This is respected even when all other nodes fail. */
  isMuted = (nowMs: number): boolean => this.#isMuted && this.#restUntilMs > nowMs

  /**
   * Order of preference, lowest first: 0 for a healthy node; 1 for a node whose head is behind or doubtful, that two
   * other nodes contradicted, or whose answer was refuted; for a node with faults, the end of its rest (ms, at least
   * 2).
   */
  rank(nowMs: number): number {
    if (this.#faultsInARow > 0) return Math.max(2, this.#restUntilMs)
    return Math.max(this.#behindUntilMs, this.#refutedUntilMs) > nowMs ? 1 : 0
  }

  /** True if the node failed more than once in a row. */
  isFailing = (): boolean => this.#faultsInARow > 1

  /** True if the node had faults, its rest has ended, and no background call checks it yet. */
  needsProbe = (nowMs: number): boolean =>
    !this.isProbed && this.#faultsInARow > 0 && this.#restUntilMs <= nowMs

  /**
   * Call after an answer of the node: ends its rest, and forgets its faults. Does nothing for the answer of a call that
   * began before the node asked to wait.
   */
  answered(nowMs: number): void {
    if (this.isMuted(nowMs)) return
    this.#faultsInARow = 0
    this.#restUntilMs = 0
    this.wrong = null
  }

  /** Starts a rest after a fault. Each further fault doubles the rest, unless the node named a pause. */
  rest(error: RpcError, nowMs: number): void {
    // concurrent calls that failed together count as one fault
    if (this.#restUntilMs <= nowMs || this.#faultsInARow === 0) this.#faultsInARow += 1
    // another node may listen at the same address after an outage (a restarted local chain)
    this.chainCheck = null
    const backOffMs = Math.min(
      REST_MAX_MS,
      REST_BASE_MS * 2 ** Math.min(this.#faultsInARow - 1, 20),
    )
    this.wrong = error instanceof WrongChainError ? error : null
    if (error instanceof RefutedAnswerError) this.#refutedUntilMs = nowMs + REFUTED_MS
    this.#isMuted = error.fault === 'rate_limited'
    const restMs = this.wrong ? WRONG_REST_MS : (error.retryAfterMs ?? backOffMs)
    const mostMs = error.retryAfterMs === null ? MUTE_MAX_MS.unnamed : MUTE_MAX_MS.named
    this.#restUntilMs = nowMs + (this.#isMuted ? Math.min(restMs, mostMs) : restMs)
  }

  /** Makes the pool prefer other nodes until `untilMs`. */
  setBehind(untilMs: number): void {
    this.#behindUntilMs = untilMs
  }

  health(nowMs: number): NodeCounters {
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

/** True for an error of the node and not of the request: another node may answer differently. */
export const isFaultOfNode = ({ fault }: RpcError): boolean =>
  fault === 'transient' || fault === 'rate_limited'
