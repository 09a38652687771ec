import { ChainUnavailableError } from '../chain.js'
import { RpcError, transient } from './errors.js'

/** A JSON-RPC call; resolves to the node's `result`, undecoded. */
export type Call = <T>(method: string, params: readonly unknown[]) => Promise<T>

/** Serves an answer for some time before it is asked for again; a failure is not kept. */
export function servedFor<T>(forMs: number, ask: () => Promise<T>, nowMs: () => number = Date.now): () => Promise<T> {
  let last: { answer: Promise<T>; atMs: number } | null = null
  return () => {
    const atMs = nowMs()
    if (last && atMs - last.atMs < forMs) return last.answer
    const asked = { answer: ask(), atMs }
    last = asked
    asked.answer.catch(() => {
      if (last === asked) last = null
    })
    return asked.answer
  }
}

/** Asks about items, `size` at once and one batch after the other. @returns the answers in order */
export async function inBatches<T, R>(items: readonly T[], size: number, ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let i = 0; i < items.length; i += size) answers.push(...(await Promise.all(items.slice(i, i + size).map(ask))))
  return answers
}

export interface NodesOptions<Hash extends string> {
  label: string
  urls: readonly string[]
  /** Expected of every node; learned from the first node when absent. */
  genesisHash?: Hash | undefined
  /** Opens a call to one node; its errors are RpcErrors. */
  connect(url: string): Call
  /** Reads a node's genesis hash, and checks whatever else identifies its chain. @throws WrongChainError */
  readGenesis(url: string, call: Call): Promise<Hash>
  /** Height of a node's chain. */
  headOf(call: Call): Promise<number>
  /** Nodes whose head is further than this behind the highest count as lagging. */
  behindBlocks: number
  onFault?: ((url: string, error: RpcError) => void) | undefined
}

/** Options of a pool that are not those of its kind of chain. */
export type PoolOptions<Hash extends string> = Pick<
  NodesOptions<Hash>,
  'label' | 'urls' | 'genesisHash' | 'onFault'
> & {
  timeoutMs?: number
}

/** A node that serves another chain; never asked again. */
export class WrongChainError extends Error {
  override name = 'WrongChainError'
}

interface Node {
  url: string
  call: Call
  /** Time until which the node rests after a fault (milliseconds). */
  restUntilMs: number
  /** Time until which the node asked not to be called; respected even when all others fail. */
  mutedUntilMs: number
  /** Time until which the node counts as lagging and is tried last. */
  behindUntilMs: number
  faultsInARow: number
  isChecked: boolean
  wrong: WrongChainError | null
}

type Answer<T> = { result: T } | { error: RpcError | WrongChainError }

const REST_BASE_MS = 250
const REST_MAX_MS = 30_000
/** Interval between comparisons of the nodes' heads. */
const COMPARE_EVERY_MS = 5_000

/** A pool of nodes as its users see it. */
export type Nodes<Hash extends string = string> = Pick<NodePool<Hash>, keyof NodePool<Hash>>

/**
 * Several nodes of one chain. Calls go to the first healthy node. A failing node rests, longer after each failure, and
 * is preferred again once it answers. Nodes of another chain are refused.
 */
export class NodePool<Hash extends string> {
  readonly label: string
  readonly #options: NodesOptions<Hash>
  readonly #nodes: readonly Node[]
  #genesis: Hash | null
  #comparedMs = Number.NEGATIVE_INFINITY

  constructor(options: NodesOptions<Hash>) {
    this.label = options.label
    this.#options = options
    this.#genesis = options.genesisHash ?? null
    this.#nodes = options.urls.map((url) => ({
      url,
      call: options.connect(url),
      restUntilMs: 0,
      mutedUntilMs: 0,
      behindUntilMs: 0,
      faultsInARow: 0,
      isChecked: false,
      wrong: null,
    }))
  }

  /** @throws RpcError of fault too_much or refused as the node gave it; ChainUnavailableError when no node answers */
  readonly call: Call = (method, params) => this.onOneNode((call) => call(method, params))

  /** Hash of the first block. @throws ChainUnavailableError, WrongChainError */
  genesisHash(): Promise<Hash> {
    return this.onOneNode(async () => this.#genesis!)
  }

  /**
   * Several calls to one node, so that their answers are consistent. A fault of any call restarts the work on another
   * node.
   * @throws as `call`
   */
  async onOneNode<T>(work: (call: Call) => Promise<T>): Promise<T> {
    let last: Error | null = null
    const now = Date.now()
    // healthy nodes first, in the order of the configuration; then the resting ones, by the end of their rest
    for (const node of [...this.#nodes].sort((a, b) => restMs(a, now) - restMs(b, now))) {
      if (node.mutedUntilMs > Date.now()) {
        last ??= new RpcError('rate_limited', `${new URL(node.url).host} asked to wait`)
        continue
      }
      const answer = await this.#ask(node, work)
      if ('result' in answer) {
        node.faultsInARow = 0
        node.restUntilMs = 0
        return answer.result
      }
      if (answer.error instanceof RpcError && !isFaultOfNode(answer.error)) throw answer.error
      last = answer.error
    }
    if (this.#nodes.every(({ wrong }) => wrong)) throw this.#nodes[0]!.wrong!
    throw this.#unavailable(last)
  }

  /**
   * Runs the work on every node that answers, in the order of the configuration.
   * @throws ChainUnavailableError when none does
   */
  async onEveryNode<T>(work: (call: Call) => Promise<T>): Promise<T[]> {
    const awake = this.#nodes.filter(({ mutedUntilMs }) => mutedUntilMs <= Date.now())
    const answers = await Promise.all(awake.map((node) => this.#ask(node, work)))
    const results = answers.flatMap((answer) => ('result' in answer ? [answer.result] : []))
    if (results.length > 0) return results
    throw this.#unavailable(answers.find((answer) => 'error' in answer)?.error ?? null)
  }

  /**
   * Runs the work on one node, and on another where there is one, for what is believed for ever.
   * @param isEnough whether the first answer needs no second
   * @returns one answer or two, the first node's first; `pairOf` judges them
   * @throws as `call`
   */
  onTwoNodes<T>(work: (call: Call) => Promise<T>, isEnough: (first: T) => boolean = () => false): Promise<T[]> {
    return this.onOneNode(async (call) => {
      const first = await work(call)
      const second = isEnough(first) ? null : await this.onAnotherNode(call, work)
      return second === null ? [first] : [first, second]
    })
  }

  /** Runs the work, for a second opinion, on a node other than that of `than`; null when no other node answers. */
  async onAnotherNode<T>(than: Call, work: (call: Call) => Promise<T>): Promise<T | null> {
    const now = Date.now()
    for (const node of this.#nodes) {
      if (node.call === than || restMs(node, now) > 0) continue
      const answer = await this.#ask(node, work)
      if ('result' in answer) return answer.result
    }
    return null
  }

  /** Compares the nodes' heads, at most once per interval, and demotes those that lag. Never throws. */
  async demoteLaggingNodes(): Promise<void> {
    if (this.#nodes.length < 2 || Date.now() - this.#comparedMs < COMPARE_EVERY_MS) return
    this.#comparedMs = Date.now()
    const heads = await Promise.all(this.#nodes.map((node) => this.#headOf(node).catch(() => null)))
    const highest = Math.max(...heads.map((head) => head ?? 0))
    for (const [i, node] of this.#nodes.entries()) {
      const head = heads[i] ?? highest
      if (highest - head <= this.#options.behindBlocks) continue
      node.behindUntilMs = Date.now() + 2 * COMPARE_EVERY_MS
      this.#options.onFault?.(node.url, transient(`the head is ${head}, another node's ${highest}`))
    }
  }

  /** Runs work on one node. A fault of the node itself makes it rest. @throws whatever is no error of an RPC */
  async #ask<T>(node: Node, work: (call: Call) => Promise<T>): Promise<Answer<T>> {
    try {
      await this.#check(node)
      return { result: await work(node.call) }
    } catch (error) {
      if (error instanceof WrongChainError) return { error }
      if (!(error instanceof RpcError)) throw error
      if (isFaultOfNode(error)) this.#rest(node, error)
      return { error }
    }
  }

  async #headOf(node: Node): Promise<number> {
    await this.#check(node)
    return this.#options.headOf(node.call)
  }

  async #check(node: Node): Promise<void> {
    if (node.wrong) throw node.wrong
    if (node.isChecked) return
    try {
      const hash = await this.#options.readGenesis(node.url, node.call)
      this.#genesis ??= hash
      if (hash !== this.#genesis)
        throw new WrongChainError(`${node.url} has genesis ${hash}, not ${this.#genesis} (chain "${this.label}")`)
    } catch (error) {
      if (error instanceof WrongChainError) node.wrong = error
      throw error
    }
    node.isChecked = true
  }

  #rest(node: Node, error: RpcError): void {
    node.faultsInARow += 1
    // another node may listen at the same address after an outage (a restarted local chain)
    node.isChecked = false
    const backOffMs = Math.min(REST_MAX_MS, REST_BASE_MS * 2 ** Math.min(node.faultsInARow - 1, 10))
    node.restUntilMs = Date.now() + (error.retryAfterMs ?? backOffMs)
    if (error.fault === 'rate_limited') node.mutedUntilMs = Math.min(node.restUntilMs, Date.now() + REST_MAX_MS)
    this.#options.onFault?.(node.url, error)
  }

  #unavailable(last: Error | null): ChainUnavailableError {
    const why = last?.message ?? 'none is configured'
    return new ChainUnavailableError(`chain "${this.label}": no RPC URL answers (${why})`, { cause: last })
  }
}

const isFaultOfNode = ({ fault }: RpcError): boolean => fault === 'transient' || fault === 'rate_limited'

/** Time for which a node is still passed over, milliseconds. */
const restMs = ({ restUntilMs, behindUntilMs }: Node, nowMs: number): number =>
  Math.max(0, restUntilMs - nowMs, behindUntilMs - nowMs)
