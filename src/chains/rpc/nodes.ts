import { isDeepStrictEqual } from 'node:util'
import { orIf } from '../../ops/log/errors.js'
import type { NodeNumbers } from '../../ops/rpcMetrics.js'
import { ChainUnavailableError } from '../chain.js'
import { LackingError, RpcError, transient } from './errors.js'
import { type Head, judgeHeads, LEAST_BLOCK_MS } from './headChoice.js'
import { type Call, isFaultOfNode, Node, type Share, WrongChainError } from './node.js'

export { type Call, WrongChainError } from './node.js'

/** Nodes that tell otherwise than each other about what is believed for ever. */
export class DisagreementError extends ChainUnavailableError {
  override name = 'DisagreementError'
}

/** Waits for a quorum; nodes that contradict each other give `fallback` instead. */
export const orIfDisputed = <T>(asked: Promise<T>, fallback: T): Promise<T> =>
  orIf(asked, (error) => error instanceof DisagreementError, fallback)

/** `size` at once and one batch after the other. @returns the answers in order */
export async function inBatches<T, R>(
  items: readonly T[],
  size: number,
  ask: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers: R[] = []
  for (let i = 0; i < items.length; i += size)
    answers.push(...(await Promise.all(items.slice(i, i + size).map(ask))))
  return answers
}

/** Options of a pool that are not those of its kind of chain. */
export interface PoolOptions<Hash extends string> {
  label: string
  urls: readonly string[]
  /** Expected of every node; learned from the first node when absent. */
  genesisHash?: Hash | undefined
  /** Time that a block takes at least, ms: a quicker lead over the only other node is not believed. */
  leastBlockMs?: number | undefined
  /** Most that the pool may ask of each node; unbounded where it is left out. */
  share?: Share | undefined
  onFault?: ((url: string, error: RpcError) => void) | undefined
}

export interface NodesOptions<Hash extends string> extends PoolOptions<Hash> {
  /** Its errors are RpcErrors. @param limitMs of each call, where it is shorter than usual */
  connect(url: string, limitMs?: number): Call
  /** Checks whatever else identifies the chain. @throws WrongChainError */
  readGenesis(host: string, call: Call): Promise<Hash>
  /** Newest block of a node's chain. */
  headOf(call: Call): Promise<Head>
  /** Nodes whose head is further than this behind others' count as lagging. */
  behindBlocks: number
}

/**
 * Callers beside the indexer: each has its own rests and limits, so none costs another its nodes. `judge` reads
 * balances for payments; the API's questions are `api` (quotes, payments), `refunds`, `status`, `tokens`, `wallets`.
 */
export type Consumer = 'relay' | 'judge' | 'api' | 'refunds' | 'status' | 'tokens' | 'wallets'

/** Bounds what strangers' requests of one kind can make the API ask of a node. */
const STRANGERS: Share = { atOnce: 32, perSecond: 100, waiting: 200 }
/** Shares of the uses that strangers cause work for; the judge's has room for all that it asks at once. */
const SHARES: Readonly<Record<Consumer, Share | undefined>> = {
  relay: undefined,
  judge: { atOnce: 8, perSecond: 100, waiting: 500 },
  api: STRANGERS,
  refunds: STRANGERS,
  // statuses are polled: a client that learns soon that a chain is away asks again
  status: { ...STRANGERS, limitMs: 3_000 },
  tokens: STRANGERS,
  // callers who sign in wait: a node that hangs leaves time for another's word (`smartWallet.ts`)
  wallets: { ...STRANGERS, limitMs: 2_000 },
}
/** Interval between comparisons of the nodes' heads. */
const COMPARE_EVERY_MS = 5_000

/** Pools of the same nodes, and what they learn of them together. */
interface Family<Hash extends string> {
  genesisHash: Hash | null
  pools: Map<Consumer | 'index', NodePool<Hash>>
  comparedMs: number
}

/** An answer of another form than its method's, as null from an overloaded gateway, is the node's fault. */
const orUnreadable = (error: unknown): unknown =>
  error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError
    ? new RpcError('transient', "an answer has another form than its method's", null, {
        cause: error,
      })
    : error

type Answer<T> = { result: T } | { error: RpcError | WrongChainError }

/** A pool of nodes as its users see it. */
export type Nodes<Hash extends string = string> = Pick<NodePool<Hash>, keyof NodePool<Hash>>

/**
 * Several nodes of one chain. Calls go to the first healthy node. A failing node rests, longer after each failure; then
 * one question in the background, nobody's call, shows whether it answers again. Nodes of another chain are refused.
 */
export class NodePool<Hash extends string> {
  readonly label: string
  readonly #options: NodesOptions<Hash>
  readonly #nodes: readonly Node[]
  readonly #family: Family<Hash>

  constructor(
    options: NodesOptions<Hash>,
    family: Family<Hash> = {
      genesisHash: options.genesisHash ?? null,
      pools: new Map(),
      comparedMs: Number.NEGATIVE_INFINITY,
    },
    use: Consumer | 'index' = 'index',
  ) {
    this.label = options.label
    this.#options = options
    this.#family = family
    this.#nodes = options.urls.map(
      (url) => new Node(url, options.connect(url, options.share?.limitMs), options.share),
    )
    family.pools.set(use, this)
  }

  get size(): number {
    return this.#nodes.length
  }

  forUse(use: Consumer): NodePool<Hash> {
    return (
      this.#family.pools.get(use) ??
      new NodePool({ ...this.#options, share: SHARES[use] }, this.#family, use)
    )
  }

  /** Numbers of each node, by use; the first pool is `index`. */
  health(nowMs: number = performance.now()): { use: Consumer | 'index'; nodes: NodeNumbers[] }[] {
    return [...this.#family.pools].map(([use, pool]) => ({
      use,
      nodes: pool.#nodes.map((node) => node.health(nowMs)),
    }))
  }

  /**
   * Call to one node.
   * @throws RpcError of fault too_much or refused as the node gave it; ChainUnavailableError when no node answers
   */
  readonly call: Call = (method, params) => this.onOneNode((call) => call(method, params))

  /** Hash of the first block. @throws ChainUnavailableError, WrongChainError */
  genesisHash(): Promise<Hash> {
    return this.onOneNode(async () => this.#family.genesisHash!)
  }

  /**
   * Several calls to one node, so their answers are consistent. A fault of any call restarts the work on another
   * node.
   * @throws as `call`
   */
  async onOneNode<T>(work: (call: Call) => Promise<T>): Promise<T> {
    let last: Error | null = null
    for (const node of this.#inOrder()) {
      const answer = await this.#ask(node, work)
      if ('result' in answer) return answer.result
      if (answer.error instanceof RpcError && !isFaultOfNode(answer.error)) throw answer.error
      last = answer.error
    }
    if (this.#nodes.length > 0 && this.#nodes.every(({ wrong }) => wrong))
      throw this.#nodes[0]!.wrong!
    throw this.#unavailable(last)
  }

  /**
   * Runs the work on every node that answers, healthy ones first. One that is away is asked where all are.
   * @throws ChainUnavailableError when none does
   */
  async onEveryNode<T>(work: (call: Call) => Promise<T>): Promise<T[]> {
    const all = this.#inOrder()
    const awake = all.filter((node) => !node.isAway())
    const answers = await Promise.all(
      (awake.length > 0 ? awake : all).map((node) => this.#ask(node, work)),
    )
    const results = answers.flatMap((answer) => ('result' in answer ? [answer.result] : []))
    if (results.length > 0) return results
    throw this.#unavailable(answers.find((answer) => 'error' in answer)?.error)
  }

  /**
   * Hands something to every node, so one which passes nothing on holds up nobody. A refusal waits for all.
   * @param isTaken whether a node's answer says that it took the thing
   * @returns the first answer of one that did, else what a node said
   * @throws ChainUnavailableError when none answers
   */
  async toEveryNode<T>(
    hand: (call: Call) => Promise<T>,
    isTaken: (answer: T) => boolean,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const handed = this.onEveryNode(async (call) => {
        const answer = await hand(call)
        if (isTaken(answer)) resolve(answer)
        return answer
      })
      handed.then(([answer]) => resolve(answer!), reject)
    })
  }

  /**
   * Asks for what is believed for ever: two nodes have to say the same where two are configured. One that can't
   * answer, or is away, has no say: while the others are away, one node's word counts.
   * @param heedsTooMuch whether to ask for less where one node alone finds it too much
   * @throws DisagreementError; RpcError of fault too_much where no two agree, or none answers; ChainUnavailableError,
   *   or RpcError of fault refused, when no node answers
   */
  async quorum<T>(
    ask: (call: Call) => Promise<T>,
    isSame: (a: T, b: T) => boolean = isDeepStrictEqual,
    heedsTooMuch = true,
  ): Promise<T> {
    const answers: T[] = []
    let last: Error | null = null
    let tooMuch: RpcError | null = null
    for (const node of this.#inOrder()) {
      // a node that is away would delay what the others say
      if (answers.length > 0 && node.isAway()) continue
      const answer = await this.#ask(node, ask)
      if ('error' in answer) {
        const { error } = answer
        if (error instanceof RpcError && error.fault === 'too_much') tooMuch ??= error
        // a word about the item says more than the silence of others
        if (!(last instanceof LackingError)) last = error
        continue
      }
      const before = answers.find((one) => isSame(one, answer.result))
      if (before !== undefined) return before
      answers.push(answer.result)
      if (this.#nodes.length === 1) break
    }
    if (tooMuch && (answers.length !== 1 || heedsTooMuch)) throw tooMuch
    if (answers.length > 1)
      throw new DisagreementError(`chain "${this.label}": its nodes contradict each other`)
    if (answers.length === 1) return answers[0]!
    if (last instanceof RpcError && !isFaultOfNode(last)) throw last
    throw this.#unavailable(last)
  }

  /** At most once per interval; demotes nodes that lag or can't be right. Never throws. */
  async checkHeads(): Promise<void> {
    if (this.#nodes.length < 2 || performance.now() - this.#family.comparedMs < COMPARE_EVERY_MS)
      return
    this.#family.comparedMs = performance.now()
    const { headOf, behindBlocks, leastBlockMs = LEAST_BLOCK_MS } = this.#options
    const asked = this.#nodes.map((node) =>
      node.rank(performance.now()) > 1
        ? null
        : this.#check(node)
            .then(() => headOf(node.call))
            .catch(() => null),
    )
    const heads = await Promise.all(asked)
    const verdicts = judgeHeads(heads, { behindBlocks, leastBlockMs }, Date.now())
    for (const [i, node] of this.#nodes.entries()) {
      const verdict = verdicts[i]!
      node.head = verdict
      if (verdict === 'good' || verdict === 'unknown') continue
      for (const pool of this.#family.pools.values())
        pool.#nodes[i]!.setBehind(performance.now() + 2 * COMPARE_EVERY_MS)
      const others = heads.flatMap((head, other) => (head && other !== i ? [head.height] : []))
      this.#options.onFault?.(
        node.url,
        transient(`the head is ${heads[i]!.height}, others' ${others.join(', ')}`),
      )
    }
  }

  /** Healthy nodes in the order of the configuration, then the others. */
  #inOrder(): Node[] {
    const nowMs = performance.now()
    const ranked = this.#nodes
      .filter((node) => !node.isMuted(nowMs))
      .map((node) => ({ node, rank: node.rank(nowMs) }))
      .sort((a, b) => a.rank - b.rank)
    if (ranked[0]?.rank === 0 || ranked[0]?.rank === 1)
      for (const { node } of ranked) if (node.needsProbe(nowMs)) this.#probe(node)
    return ranked.map(({ node }) => node)
  }

  /** In the background; the node is used again once it answers. Never throws. */
  #probe(node: Node): void {
    node.isProbed = true
    void this.#ask(node, this.#options.headOf)
      .catch(() => {})
      .finally(() => {
        node.isProbed = false
      })
  }

  /** A fault of the node itself makes it rest. @throws whatever is no error of an RPC */
  async #ask<T>(node: Node, work: (call: Call) => Promise<T>): Promise<Answer<T>> {
    try {
      await this.#check(node)
      const result = await work(node.call)
      node.answered()
      return { result }
    } catch (thrown) {
      const error = orUnreadable(thrown)
      if (error instanceof WrongChainError) node.rest(error, performance.now())
      else if (!(error instanceof RpcError)) throw error
      else if (error instanceof LackingError) node.answered()
      else if (isFaultOfNode(error)) {
        node.rest(error, performance.now())
        this.#options.onFault?.(node.url, error)
      }
      return { error }
    }
  }

  /** @throws WrongChainError, or whatever the question fails with */
  #check(node: Node): Promise<void> {
    if (node.checked) return node.checked
    const checked = this.#checkChain(node)
    node.checked = checked
    checked.catch(() => {
      if (node.checked === checked) node.checked = null
    })
    return checked
  }

  async #checkChain({ host, call }: Node): Promise<void> {
    const hash = await this.#options.readGenesis(host, call)
    this.#family.genesisHash ??= hash
    if (hash !== this.#family.genesisHash)
      throw new WrongChainError(
        `${host} has genesis ${hash}, not ${this.#family.genesisHash} (chain "${this.label}")`,
      )
  }

  /** @param last null where no node might be asked at all */
  #unavailable(last: Error | null = null): ChainUnavailableError {
    const muted = this.#nodes.find((node) => node.isMuted(performance.now()))
    const cause =
      last ?? (muted ? new RpcError('rate_limited', `${muted.host} asked to wait`) : null)
    const why = cause?.message ?? 'none is configured'
    return new ChainUnavailableError(`chain "${this.label}": no RPC URL answers (${why})`, {
      cause,
    })
  }
}
