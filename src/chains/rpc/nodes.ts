import { isDeepStrictEqual } from 'node:util'
import { ChainUnavailableError } from '../chain.js'
import {
  type AgreedAnswer,
  type AgreementOptions,
  NodeAnswers,
  NodesDisagreeError,
  NodesSilentError,
} from './agreement.js'
import {
  isContradictionError,
  isRetryableRpcError,
  isTooMuchError,
  MissingDataError,
  RefutedAnswerError,
  RpcError,
  transientError,
  WrongChainError,
} from './errors.js'
import { classifyHeads, MIN_BLOCK_TIME_MS, type NodeHead, sharedHeightOf } from './headChoice.js'
import {
  isFaultOfNode,
  NODE_CALL_LIMITS_BY_CONSUMER,
  type NodeCallLimits,
  type NodeConsumer,
  type NodeCounters,
  type RpcCall,
  RpcNode,
} from './node.js'

export {
  type AgreedAnswer,
  fallbackIfNoQuorum,
  isSilenceOfNodes,
  NodesDisagreeError,
  NodesSilentError,
  NoQuorumError,
} from './agreement.js'
export type { NodeConsumer, NodeCounters, RpcCall } from './node.js'

/** Options of a pool that do not depend on the chain family. */
export interface RpcPoolOptions<Hash extends string> {
  label: string
  urls: readonly string[]
  /** Genesis hash that every node must have. Absent: the genesis hash of the first node that answers. */
  genesisHash?: Hash | undefined
  /**
   * Shortest time between two blocks, ms. With two nodes, a head that is further ahead than this allows is not accepted.
   */
  leastBlockMs?: number | undefined
  /** Limit of the calls to each node. Absent: no limit. */
  share?: NodeCallLimits | undefined
  onFault?: ((url: string, error: RpcError) => void) | undefined
}

interface RpcNodesOptions<Hash extends string> extends RpcPoolOptions<Hash> {
  /** Creates a caller of a node, which throws RpcErrors. @param limitMs timeout of a call, if shorter than usual */
  connect(url: string, limitMs?: number): RpcCall
  /** Reads the genesis hash, and checks the chain id where the family has one. @throws WrongChainError */
  readGenesis(host: string, call: RpcCall): Promise<Hash>
  /** Reads the newest block that a node reports. */
  headOf(call: RpcCall): Promise<NodeHead>
  /** Number of blocks by which the heads of honest nodes may differ. */
  behindBlocks: number
}

/** Shortest time between two comparisons of the nodes' heads. */
const HEAD_COMPARISON_INTERVAL_MS = 5_000
/**
 * How long healthy nodes are preferred to a node whose head is behind or doubtful, ms: two of the longest pauses between
 * polls of a quiet chain.
 */
const BEHIND_MS = 30_000
/** How long healthy nodes are preferred to a node that two other nodes have contradicted, ms. */
const OUTVOTED_MS = 60_000

/** State that several pools share: each consumer has a pool of the same nodes. */
interface SharedPoolState<Hash extends string> {
  genesisHash: Hash | null
  pools: Map<NodeConsumer | 'index', RpcPool<Hash>>
  /** Time of the last comparison of the nodes' heads, monotonic clock. */
  comparedMs: number
}

type NodeOutcome<T> = { result: T } | { error: RpcError }

/** The public interface of a pool of nodes. */
export type RpcNodes<Hash extends string = string> = Pick<RpcPool<Hash>, keyof RpcPool<Hash>>

/**
 * Several nodes of one chain. Calls go to the first healthy node. A failing node rests, longer after each failure.
 * After its rest, one background call checks whether the node answers again. Nodes of another chain are not used.
 */
export class RpcPool<Hash extends string> {
  readonly label: string
  readonly #options: RpcNodesOptions<Hash>
  readonly #nodes: readonly RpcNode[]
  readonly #shared: SharedPoolState<Hash>
  #rotations = 0

  constructor(
    options: RpcNodesOptions<Hash>,
    shared: SharedPoolState<Hash> = {
      genesisHash: options.genesisHash ?? null,
      pools: new Map(),
      comparedMs: Number.NEGATIVE_INFINITY,
    },
    use: NodeConsumer | 'index' = 'index',
  ) {
    this.label = options.label
    this.#options = options
    this.#shared = shared
    this.#nodes = options.urls.map(
      (url) => new RpcNode(url, options.connect(url, options.share?.limitMs), options.share),
    )
    shared.pools.set(use, this)
  }

  get size(): number {
    return this.#nodes.length
  }

  /** The pool of the same nodes for another consumer, with its own back-offs and call limits. */
  forUse(use: NodeConsumer): RpcPool<Hash> {
    return (
      this.#shared.pools.get(use) ??
      new RpcPool({ ...this.#options, share: NODE_CALL_LIMITS_BY_CONSUMER[use] }, this.#shared, use)
    )
  }

  /** Counters of each node, by consumer. The indexer's pool is `index`. */
  health(nowMs = performance.now()): { use: NodeConsumer | 'index'; nodes: NodeCounters[] }[] {
    return [...this.#shared.pools].map(([use, pool]) => ({
      use,
      nodes: pool.#nodes.map((node) => node.health(nowMs)),
    }))
  }

  /**
   * Calls one node.
   * @throws RpcError of fault too_much or refused as the node gave it; WrongChainError where every node serves another
   * chain; ChainUnavailableError when no node answers
   */
  readonly call: RpcCall = (method, params) => this.onOneNode((call) => call(method, params))

  /** Genesis hash of the chain. @throws ChainUnavailableError, WrongChainError */
  genesisHash(): Promise<Hash> {
    return this.onOneNode(async () => this.#shared.genesisHash!)
  }

  /**
   * Makes several calls to one node, so that answers are consistent. A fault restarts the work on another node.
   * @param work also gets the node's host
   * @throws as `call`; errors of the work that no RPC call caused
   */
  async onOneNode<T>(
    work: (call: RpcCall, host: string) => Promise<T>,
    nodes = this.#inOrder(),
  ): Promise<T> {
    let last: Error | null = null
    for (const node of nodes) {
      const answer = await this.#ask(node, (call) => work(call, node.host))
      if ('result' in answer) return answer.result
      if (!isFaultOfNode(answer.error)) throw answer.error
      last = answer.error
    }
    if (this.#nodes.length > 0 && this.#nodes.every(({ wrong }) => wrong))
      throw this.#nodes[0]!.wrong!
    throw this.#unavailableError(last)
  }

  /**
   * Like `onOneNode`, but begins with another healthy node each time, so that no single node can hide data.
   * @param turn number that chooses the node; consecutive numbers choose different nodes. Default: the pool counts
   */
  inTurn<T>(work: (call: RpcCall) => Promise<T>, turn?: number): Promise<T> {
    const nodes = this.#inOrder()
    const nowMs = performance.now()
    const healthy = nodes.filter((node) => node.rank(nowMs) === 0)
    if (turn === undefined) this.#rotations += 1
    const next = healthy[(turn ?? this.#rotations) % healthy.length]
    return this.onOneNode(work, next ? [next, ...nodes.filter((node) => node !== next)] : nodes)
  }

  /**
   * Runs the work on every node, except nodes that asked to wait, and failing nodes if enough other nodes are left.
   * Nodes whose call fails are left out of the result.
   * @param least minimum number of answers, or the number of configured nodes if that is smaller
   * @throws ChainUnavailableError when fewer nodes answer; RpcError of fault refused where none answers, and two nodes or
   * the only configured one refuse
   */
  async onEveryNode<T>(work: (call: RpcCall) => Promise<T>, least = 1): Promise<T[]> {
    return (await this.answersOfAll(work, least)).answers
  }

  /** Like `onEveryNode`, and returns which node gave which answer. */
  async answersOfAll<T>(
    work: (call: RpcCall) => Promise<T>,
    least: number,
  ): Promise<NodeAnswers<RpcNode, T>> {
    const all = this.#inOrder()
    const awake = all.filter((node) => !node.isFailing())
    const needed = Math.min(least, this.size)
    const targets = awake.length >= needed ? awake : all
    const answered = await Promise.all(targets.map((node) => this.#ask(node, work)))
    const answers = new NodeAnswers<RpcNode, T>()
    const failed = new Map<RpcNode, RpcError>()
    for (const [i, node] of targets.entries()) {
      const answer = answered[i]!
      if ('result' in answer) answers.set(node, answer.result)
      else failed.set(node, answer.error)
    }
    const { nodes } = answers
    if (nodes.length > 0 && nodes.length >= needed) return answers
    throw this.#undecidedError(nodes, failed)
  }

  /** Number of nodes that have to give equal answers: two where two are configured, otherwise one. */
  get needed(): number {
    return Math.min(2, this.size)
  }

  /**
   * Sends a transaction to every node. Resolves at the first acceptance, or with the refusals once all nodes have answered.
   * @param isTaken true if a node's answer is an acceptance
   * @returns only the first acceptance, or else the refusal of each node that answered
   * @throws as `onEveryNode`, when no node answers
   */
  async toEveryNode<T>(
    hand: (call: RpcCall) => Promise<T>,
    isTaken: (answer: T) => boolean,
  ): Promise<[T, ...T[]]> {
    return new Promise((resolve, reject) => {
      const handed = this.onEveryNode(async (call) => {
        const answer = await hand(call)
        if (isTaken(answer)) resolve([answer])
        return answer
      })
      handed.then((answers) => resolve(answers as [T, ...T[]]), reject)
    })
  }

  /** Like `agreed`, and returns only the answer. */
  async quorum<T>(
    ask: (call: RpcCall) => Promise<T>,
    isSame: (a: T, b: T) => boolean = isDeepStrictEqual,
  ): Promise<T> {
    return (await this.agreed(ask, { isSame })).answer
  }

  /**
   * Asks for an answer that is accepted permanently: two nodes have to give equal answers where two are configured. A
   * node that fails or asked to wait does not count as an answer, and no node counts twice, however often it was asked.
   * @param ask gets the first answer of another node, if there is one. `ask` may then request less data, and returns
   * the first answer itself if the node's data are equal
   * @throws NodesDisagreeError; NodesSilentError where one node answered and another is needed; RpcError of fault
   * refused where two nodes, or the only configured one, refuse; ChainUnavailableError. The error's cause is of fault
   * too_much where a smaller question may help
   */
  async agreed<T>(
    ask: (call: RpcCall, first: T | undefined, host: string) => Promise<T>,
    { isSame = isDeepStrictEqual, isProved = false, about }: AgreementOptions<T> = {},
  ): Promise<AgreedAnswer<T>> {
    const answers = new NodeAnswers<RpcNode, T>()
    const failed = new Map<RpcNode, RpcError>()
    const queue = this.#inOrder()
    for (const node of queue) {
      const [first] = answers.answers
      const answer = await this.#ask(node, (call) => ask(call, first, node.host))
      if ('error' in answer) {
        // a single fault may be momentary, so the node is asked once more
        const isNew = !failed.has(node) && !node.isFailing() && isRetryableRpcError(answer.error)
        if (isNew) queue.push(node)
        failed.set(node, answer.error)
        continue
      }
      failed.delete(node)
      answers.set(node, answer.result)
      const agreed = answers.agreement(this.needed, isSame)
      if (agreed) return agreed
      // after a first answer `ask` may request less: nodes that refused the whole range as too large are asked again
      if (answers.nodes.length === 1)
        queue.push(...[...failed.keys()].filter((one) => isTooMuchError(failed.get(one))))
    }
    const refuted = [...failed.values()].filter((error) => error instanceof RefutedAnswerError)
    const isOnly = answers.nodes.length === 1 && refuted.length + 1 === this.size
    const only = isProved && isOnly ? answers.agreement(1, isSame) : null
    if (only) return only
    throw this.#undecidedError(answers.nodes, failed, about)
  }

  /** The error that explains why no answer was accepted. */
  #undecidedError(
    answered: readonly RpcNode[],
    failed: ReadonlyMap<RpcNode, RpcError>,
    about?: string,
  ): Error {
    const errors = [...failed.values()]
    const tooMuch = errors.find(isTooMuchError)
    const [only] = answered
    const contradicting = this.#nodes.filter((node) => isContradictionError(failed.get(node)))
    if (only && answered.length + contradicting.length > 1) {
      // a node that two others contradict must not remain the first node to be asked
      if (answered.length === 1 && contradicting.length > 1)
        only.setBehind(performance.now() + OUTVOTED_MS)
      const hosts = [...answered, ...contradicting].map(({ host }) => host)
      return new NodesDisagreeError(
        `chain "${this.label}": its nodes contradict each other (${hosts.join(', ')})${about ? ` about ${about}` : ''}`,
        { cause: tooMuch },
      )
    }
    const refusals = errors.filter(({ fault }) => fault === 'refused')
    if (answered.length === 0 && refusals.length >= Math.min(2, this.size)) return refusals[0]!
    // an error about the requested item explains more than the error of an unavailable node
    const missing = errors.find((error) => error instanceof MissingDataError)
    const cause = tooMuch ?? missing ?? errors.at(-1) ?? null
    if (!only) return this.#unavailableError(cause)
    const silent = this.#nodes
      .filter((node) => node !== only)
      .map((node) => `${node.host} (${failed.get(node)?.message ?? 'it asked to wait'})`)
    return new NodesSilentError(
      `chain "${this.label}": only ${only.host} answers, and two nodes have to: ${silent.join(', ')} did not`,
      { cause },
    )
  }

  /**
   * Call when the answers of some hosts' nodes contradict data proved on the chain. The nodes rest, and then other nodes
   * are preferred to them for `REFUTED_MS`.
   */
  refute(hosts: ReadonlySet<string>, error: RefutedAnswerError): void {
    for (const node of this.#nodes)
      if (hosts.has(node.host)) {
        node.rest(error, performance.now())
        this.#options.onFault?.(node.url, error)
      }
  }

  /**
   * Compares the heads, at most once per interval. Demotes nodes that lag or report an impossible head. Also demotes a
   * node below the height that two nodes have reached, so that a preferred node can't delay the pool by hiding a few
   * blocks. Never throws.
   */
  async checkHeads(): Promise<void> {
    if (
      this.#nodes.length < 2 ||
      performance.now() - this.#shared.comparedMs < HEAD_COMPARISON_INTERVAL_MS
    )
      return
    this.#shared.comparedMs = performance.now()
    const { headOf, behindBlocks, leastBlockMs = MIN_BLOCK_TIME_MS } = this.#options
    const polls = this.#nodes.map((node) =>
      node.rank(performance.now()) > 1
        ? null
        : this.#check(node)
            .then(() => headOf(node.call))
            .catch(() => null),
    )
    const heads = await Promise.all(polls)
    const verdicts = classifyHeads(heads, { behindBlocks, leastBlockMs }, Date.now())
    const sharedHeight = sharedHeightOf(heads, verdicts)
    for (const [i, node] of this.#nodes.entries()) {
      const verdict = verdicts[i]!
      const head = heads[i]
      node.head = verdict
      if (!head || (verdict === 'good' && head.height >= sharedHeight)) continue
      for (const pool of this.#shared.pools.values())
        pool.#nodes[i]!.setBehind(performance.now() + BEHIND_MS)
      if (verdict === 'good') continue
      const others = heads.flatMap((head, other) => (head && other !== i ? [head.height] : []))
      this.#options.onFault?.(
        node.url,
        transientError(`the head is ${head.height}, others' ${others.join(', ')}`),
      )
    }
  }

  /**
   * Nodes in the order of preference, without nodes that asked to wait. If a healthy node can take the calls, starts
   * background checks of nodes whose rest has ended.
   */
  #inOrder(): RpcNode[] {
    const nowMs = performance.now()
    const ranked = this.#nodes
      .filter((node) => !node.isMuted(nowMs))
      .map((node) => ({ node, rank: node.rank(nowMs) }))
      .sort((a, b) => a.rank - b.rank)
    if (ranked[0]?.rank === 0 || ranked[0]?.rank === 1)
      for (const { node } of ranked) if (node.needsProbe(nowMs)) this.#probe(node)
    return ranked.map(({ node }) => node)
  }

  /** Calls a node in the background. The node is used again once it answers. Never throws. */
  #probe(node: RpcNode): void {
    node.isProbed = true
    void this.#ask(node, this.#options.headOf)
      .catch(() => {})
      .finally(() => {
        node.isProbed = false
      })
  }

  /** Runs the work on a node. The node rests after a fault. @throws errors of the work that no RPC call caused */
  async #ask<T>(node: RpcNode, work: (call: RpcCall) => Promise<T>): Promise<NodeOutcome<T>> {
    try {
      await this.#check(node)
      const result = await work(node.call)
      node.answered(performance.now())
      return { result }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (error instanceof MissingDataError) node.answered(performance.now())
      else if (isFaultOfNode(error)) {
        node.rest(error, performance.now())
        this.#options.onFault?.(node.url, error)
      }
      return { error }
    }
  }

  /** Checks once that a node serves the right chain. @throws WrongChainError, or the error of the call */
  #check(node: RpcNode): Promise<void> {
    if (node.chainCheck) return node.chainCheck
    const chainCheck = this.#checkChain(node)
    node.chainCheck = chainCheck
    chainCheck.catch(() => {
      if (node.chainCheck === chainCheck) node.chainCheck = null
    })
    return chainCheck
  }

  async #checkChain({ host, call }: RpcNode): Promise<void> {
    const hash = await this.#options.readGenesis(host, call)
    this.#shared.genesisHash ??= hash
    if (hash !== this.#shared.genesisHash)
      throw new WrongChainError(
        `${host} has genesis ${hash}, not ${this.#shared.genesisHash} (chain "${this.label}")`,
      )
  }

  /** Error for a call that no node answered. @param last error of the last call; null where no node could be called */
  #unavailableError(last: Error | null = null): ChainUnavailableError {
    const muted = this.#nodes.find((node) => node.isMuted(performance.now()))
    const cause =
      last ?? (muted ? new RpcError('rate_limited', `${muted.host} asked to wait`) : null)
    const why = cause?.message ?? 'none is configured'
    const message = `chain "${this.label}": no RPC URL answers (${why})`
    return new ChainUnavailableError(message, { cause })
  }
}
