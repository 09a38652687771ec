import { isDeepStrictEqual } from 'node:util'
import { orIf } from '../../ops/log/errors.js'
import type { NodeNumbers } from '../../ops/rpcMetrics.js'
import { ChainUnavailableError } from '../chain.js'
import {
  isContradicting,
  isPassing,
  LackingError,
  RefutedError,
  RpcError,
  transient,
} from './errors.js'
import { type Head, judgeHeads, LEAST_BLOCK_MS, sharedHeightOf } from './headChoice.js'
import { type Call, isFaultOfNode, Node, type Share, WrongChainError } from './node.js'
import { type Consumer, SHARES } from './shares.js'

export { type Call, WrongChainError } from './node.js'
export type { Consumer } from './shares.js'

/** Too few nodes gave equal answers: nothing is known, so nothing is accepted. */
export class UndecidedError extends ChainUnavailableError {
  override name = 'UndecidedError'
}

/** Nodes gave unequal answers about what is accepted for ever. */
export class DisagreementError extends UndecidedError {
  override name = 'DisagreementError'
}

/** A node that is needed for a second answer gave none. */
export class SilenceError extends UndecidedError {
  override name = 'SilenceError'
}

/** Waits for an answer of two nodes; `fallback` while there is none. */
export const orIfUndecided = <T>(asked: Promise<T>, fallback: T): Promise<T> =>
  orIf(asked, (error) => error instanceof UndecidedError, fallback)

/** Bounds of an agreement. */
export interface AgreedOptions<T> {
  isSame?: (a: T, b: T) => boolean
  /** Nodes that have to give an answer; 2 where it is left out. One suffices where only one is configured. */
  least?: number
  /** True if answers are checked against what two nodes agreed on: a node that it refutes has answered, without a say. */
  isProved?: boolean
}

/** An answer, and the number of nodes that gave it. */
export interface Agreed<T> {
  answer: T
  nodes: number
}

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

/** Interval between comparisons of the nodes' heads. */
const COMPARE_EVERY_MS = 5_000
/** Time for which a node is asked after others that both contradicted it. */
const OUTVOTED_MS = 60_000

/** Pools of the same nodes, and what they learn of them together. */
interface Family<Hash extends string> {
  genesisHash: Hash | null
  pools: Map<Consumer | 'index', NodePool<Hash>>
  comparedMs: number
  /** Height that two nodes had reached when heads were compared last. */
  sharedHeight: number
}

type Answer<T> = { result: T } | { error: RpcError | WrongChainError }

const isTooMuch = (error: Error | undefined): error is RpcError =>
  error instanceof RpcError && error.fault === 'too_much'

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
      sharedHeight: Number.NEGATIVE_INFINITY,
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
   * @param work gets the node's host too
   * @throws as `call`
   */
  async onOneNode<T>(work: (call: Call, host: string) => Promise<T>): Promise<T> {
    let last: Error | null = null
    for (const node of this.#inOrder()) {
      const answer = await this.#ask(node, (call) => work(call, node.host))
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
   * @param least answers that are needed, where so many nodes are configured
   * @throws ChainUnavailableError when fewer do
   */
  async onEveryNode<T>(work: (call: Call) => Promise<T>, least = 1): Promise<T[]> {
    const all = this.#inOrder()
    const awake = all.filter((node) => !node.isAway())
    const needed = Math.min(least, this.size)
    const asked = awake.length >= needed ? awake : all
    const answers = await Promise.all(asked.map((node) => this.#ask(node, work)))
    const results = answers.flatMap((answer) => ('result' in answer ? [answer.result] : []))
    if (results.length > 0 && results.length >= needed) return results
    const failed = new Map(
      asked.flatMap((node, i) => ('error' in answers[i]! ? [[node, answers[i].error]] : [])),
    )
    throw this.#undecided(
      asked.filter((node) => !failed.has(node)),
      failed,
    )
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

  /** The answer of `agreed`. */
  async quorum<T>(
    ask: (call: Call) => Promise<T>,
    isSame: (a: T, b: T) => boolean = isDeepStrictEqual,
  ): Promise<T> {
    return (await this.agreed(ask, { isSame })).answer
  }

  /**
   * Asks for what is accepted for ever: two nodes have to give equal answers where two are configured. A node that
   * fails, rests or asked to wait has not answered.
   * @param ask gets the first answer of another node, if there is one: it may ask for less then
   * @throws DisagreementError; SilenceError where one node has answered and another is needed; RpcError of fault
   *   too_much where that keeps two from agreeing, or of fault refused where as many refuse; ChainUnavailableError
   */
  async agreed<T>(
    ask: (call: Call, first: T | undefined, host: string) => Promise<T>,
    { isSame = isDeepStrictEqual, least = 2, isProved = false }: AgreedOptions<T> = {},
  ): Promise<Agreed<T>> {
    const answers: { node: Node; result: T }[] = []
    const failed = new Map<Node, RpcError | WrongChainError>()
    const needed = Math.min(least, this.size)
    const nodes = this.#inOrder()
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]!
      const answer = await this.#ask(node, (call) => ask(call, answers[0]?.result, node.host))
      if ('error' in answer) {
        // one fault may be of the moment; a node with more of them is away
        const isNew = !failed.has(node) && !node.isAway() && isPassing(answer.error)
        if (isNew) nodes.push(node)
        failed.set(node, answer.error)
        continue
      }
      const { result } = answer
      failed.delete(node)
      const same = answers.filter((one) => isSame(one.result, result))
      if (same.length + 1 >= needed)
        return { answer: same[0]?.result ?? result, nodes: same.length + 1 }
      answers.push({ node, result })
      // what was too much for a node by itself may be little beside another's answer
      if (answers.length === 1)
        nodes.push(...nodes.slice(0, i).filter((one) => isTooMuch(failed.get(one))))
    }
    const [only] = answers
    const refuted = [...failed.values()].filter((error) => error instanceof RefutedError).length
    if (isProved && only && refuted > 0 && answers.length === 1 && refuted + 1 === this.size)
      return { answer: only.result, nodes: 1 }
    throw this.#undecided(
      answers.map(({ node }) => node),
      failed,
    )
  }

  /** Why no answer counts. */
  #undecided(
    answered: readonly Node[],
    failed: ReadonlyMap<Node, RpcError | WrongChainError>,
  ): Error {
    const errors = [...failed.values()]
    const tooMuch = errors.find(isTooMuch)
    if (tooMuch) return tooMuch
    const [only] = answered
    const contradicting = this.#nodes.filter((node) => isContradicting(failed.get(node)))
    if (only && answered.length + contradicting.length > 1) {
      // one node on another fork must not stay the first of three
      if (answered.length === 1 && contradicting.length > 1)
        only.setBehind(performance.now() + OUTVOTED_MS)
      const hosts = [...answered, ...contradicting].map(({ host }) => host)
      return new DisagreementError(
        `chain "${this.label}": its nodes contradict each other (${hosts.join(', ')})`,
      )
    }
    const refusals = errors.filter((error) => error instanceof RpcError && !isFaultOfNode(error))
    if (answered.length === 0 && refusals.length >= Math.min(2, this.size)) return refusals[0]!
    // an answer about the item explains more than a node that is away
    const cause = errors.find((error) => error instanceof LackingError) ?? errors.at(-1) ?? null
    if (!only) return this.#unavailable(cause)
    const silent = this.#nodes
      .filter((node) => node !== only)
      .map((node) => `${node.host} (${failed.get(node)?.message ?? 'it asked to wait'})`)
    return new SilenceError(
      `chain "${this.label}": only ${only.host} answers, and two nodes have to: ${silent.join(', ')} did not`,
      { cause },
    )
  }

  /** Puts nodes whose answers the chain refuted after all others for a while. */
  refute(hosts: ReadonlySet<string>, error: RefutedError): void {
    for (const node of this.#nodes)
      if (hosts.has(node.host)) {
        node.rest(error, performance.now())
        this.#options.onFault?.(node.url, error)
      }
  }

  /**
   * The head by the first node that has reached the height that two nodes had when heads were compared. A first node
   * that hides a few blocks holds nothing up. Where no node has reached it, as after a reorg, the highest head counts.
   * @throws as `call`
   */
  async newestHead<T>(read: (call: Call) => Promise<T>, heightOf: (head: T) => number): Promise<T> {
    const below: T[] = []
    // a comparison that ends meanwhile may have seen blocks that are newer than the answer
    const { sharedHeight } = this.#family
    const asked = this.onOneNode(async (call) => {
      const head = await read(call)
      if (heightOf(head) >= sharedHeight) return head
      below.push(head)
      throw new LackingError(`the head is below block ${sharedHeight}`)
    })
    return asked.catch((error: unknown) => {
      const [highest] = below.sort((a, b) => heightOf(b) - heightOf(a))
      if (!highest || !(error instanceof ChainUnavailableError)) throw error
      return highest
    })
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
    this.#family.sharedHeight = sharedHeightOf(heads, verdicts)
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
    } catch (error) {
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
