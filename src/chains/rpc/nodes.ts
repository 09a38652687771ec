import { ChainUnavailableError } from '../chain.js'
import { RpcError } from './errors.js'

/** One JSON-RPC call: the node's `result`, as it came. */
export type Call = <T>(method: string, params: readonly unknown[]) => Promise<T>

export interface NodesOptions {
  label: string
  urls: readonly string[]
  /** A call to one node, its faults sorted (RpcError). */
  connect(url: string): Call
  /** Whether a node may be asked at all, when it is asked first and after it failed. @throws WrongChainError */
  check(url: string, call: Call): Promise<void>
  /** Height of a node's chain. */
  headOf(call: Call): Promise<number>
  /** A node whose head is further than this behind the highest is passed over. */
  behindBlocks: number
  onFault?: (url: string, error: RpcError) => void
}

/** A node that answers for another chain: it is never asked again, whatever it says. */
export class WrongChainError extends Error {
  override name = 'WrongChainError'
}

interface Node {
  url: string
  call: Call
  /** Not asked before this time (milliseconds). */
  restUntilMs: number
  /** It asked to be left alone until then: not even asked when all others fail. */
  mutedUntilMs: number
  /** Its head was behind another's: asked after those that were not. */
  behindUntilMs: number
  faultsInARow: number
  isChecked: boolean
  wrong: WrongChainError | null
}

const REST_BASE_MS = 250
const REST_MAX_MS = 30_000
/** Where several nodes are configured, their heads are compared this often. */
const COMPARE_EVERY_MS = 5_000

/**
 * Several nodes of one chain. Calls go to the first one that is well; a node that fails rests, longer each time, and is
 * preferred again once it answers. A node of another chain is refused.
 */
export interface Nodes {
  readonly label: string
  /** @throws RpcError of kind too_much or refused as the node said it; ChainUnavailableError when no node answers */
  call: Call
  /**
   * Several calls to one node, so that what they say fits together: a fault of any of them starts all over on another node.
   * @throws as `call`
   */
  onOneNode<T>(work: (call: Call) => Promise<T>): Promise<T>
  /**
   * The same work on every node that answers, in the order of the configuration.
   * @throws ChainUnavailableError when none does
   */
  onEveryNode<T>(work: (call: Call) => Promise<T>): Promise<T[]>
  /**
   * A second opinion: the same work on a node other than that of `call`.
   * @returns null where there is none, or none that answers
   */
  onAnotherNode<T>(than: Call, work: (call: Call) => Promise<T>): Promise<T | null>
  /** Compares the heads of the nodes, if that has not been done for a while, and passes over those that are behind. Never throws. */
  demoteLaggingNodes(): Promise<void>
}

export function createNodes(options: NodesOptions): Nodes {
  const nodes: Node[] = options.urls.map((url) => ({
    url,
    call: options.connect(url),
    restUntilMs: 0,
    mutedUntilMs: 0,
    behindUntilMs: 0,
    faultsInARow: 0,
    isChecked: false,
    wrong: null,
  }))

  const check = async (node: Node): Promise<void> => {
    if (node.wrong) throw node.wrong
    if (node.isChecked) return
    await options.check(node.url, node.call).catch((error) => {
      if (error instanceof WrongChainError) node.wrong = error
      throw error
    })
    node.isChecked = true
  }

  const rest = (node: Node, error: RpcError): void => {
    node.faultsInARow += 1
    // after an outage the node may be another one under the same address (a restarted local chain)
    node.isChecked = false
    const backOffMs = Math.min(REST_MAX_MS, REST_BASE_MS * 2 ** Math.min(node.faultsInARow - 1, 10))
    node.restUntilMs = Date.now() + (error.retryAfterMs ?? backOffMs)
    if (error.fault === 'rate_limited') node.mutedUntilMs = Math.min(node.restUntilMs, Date.now() + REST_MAX_MS)
    options.onFault?.(node.url, error)
  }

  const onOneNode = async <T>(work: (call: Call) => Promise<T>): Promise<T> => {
    let last: Error | null = null
    // rested nodes first, in the order of the configuration; then those that rest, the soonest awake first
    const now = Date.now()
    const order = [...nodes].sort((a, b) => restMs(a, now) - restMs(b, now))
    for (const node of order) {
      if (node.mutedUntilMs > Date.now()) {
        last ??= new RpcError('rate_limited', `${new URL(node.url).host} asked to wait`)
        continue
      }
      try {
        await check(node)
        const result = await work(node.call)
        node.faultsInARow = 0
        node.restUntilMs = 0
        return result
      } catch (error) {
        if (error instanceof WrongChainError) {
          last = error
          continue
        }
        if (!(error instanceof RpcError)) throw error
        if (error.fault === 'too_much' || error.fault === 'refused') throw error
        rest(node, error)
        last = error
      }
    }
    if (nodes.every((node) => node.wrong)) throw nodes[0]!.wrong!
    throw new ChainUnavailableError(
      `chain "${options.label}": no RPC URL answers (${last?.message ?? 'none is configured'})`,
      { cause: last },
    )
  }

  const onEveryNode = async <T>(work: (call: Call) => Promise<T>): Promise<T[]> => {
    const answers = await Promise.all(
      nodes
        .filter(({ mutedUntilMs }) => mutedUntilMs <= Date.now())
        .map(async (node): Promise<{ result: T } | { error: Error }> => {
          try {
            await check(node)
            return { result: await work(node.call) }
          } catch (error) {
            if (error instanceof WrongChainError) return { error }
            if (!(error instanceof RpcError)) throw error
            if (error.fault === 'transient' || error.fault === 'rate_limited') rest(node, error)
            return { error }
          }
        }),
    )
    const results = answers.flatMap((answer) => ('result' in answer ? [answer.result] : []))
    if (results.length > 0) return results
    const first = answers.find((answer) => 'error' in answer)?.error
    throw new ChainUnavailableError(`chain "${options.label}": no RPC URL answers (${first?.message})`, {
      cause: first,
    })
  }

  const onAnotherNode = async <T>(than: Call, work: (call: Call) => Promise<T>): Promise<T | null> => {
    const now = Date.now()
    for (const node of nodes) {
      if (node.call === than || restMs(node, now) > 0) continue
      try {
        await check(node)
        return await work(node.call)
      } catch (error) {
        if (error instanceof WrongChainError) continue
        if (!(error instanceof RpcError)) throw error
        if (error.fault === 'transient' || error.fault === 'rate_limited') rest(node, error)
      }
    }
    return null
  }

  let comparedMs = Number.NEGATIVE_INFINITY
  const demoteLaggingNodes = async (): Promise<void> => {
    if (nodes.length < 2 || Date.now() - comparedMs < COMPARE_EVERY_MS) return
    comparedMs = Date.now()
    const headOf = async (node: Node): Promise<number> => {
      await check(node)
      return options.headOf(node.call)
    }
    const heads = await Promise.all(nodes.map((node) => headOf(node).catch(() => null)))
    const highest = Math.max(...heads.map((head) => head ?? 0))
    for (const [i, node] of nodes.entries()) {
      const head = heads[i] ?? highest
      if (highest - head <= options.behindBlocks) continue
      node.behindUntilMs = Date.now() + 2 * COMPARE_EVERY_MS
      options.onFault?.(node.url, new RpcError('transient', `the head is ${head}, another node's ${highest}`))
    }
  }

  return {
    label: options.label,
    demoteLaggingNodes,
    onEveryNode,
    onAnotherNode,
    call: (method, params) => onOneNode((call) => call(method, params)),
    onOneNode,
  }
}

/** How long a node is to be passed over yet. */
const restMs = ({ restUntilMs, behindUntilMs }: Node, nowMs: number): number =>
  Math.max(0, restUntilMs - nowMs, behindUntilMs - nowMs)
