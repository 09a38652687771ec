import type { Registry } from 'prom-client'
import { metricFactories } from './metricFactories.js'

/**
 * Counters of a chain's node for the requests of one consumer, with times in ms. Nodes are identified by their host,
 * since the path of a URL may hold a key.
 */
export interface NodeCounters {
  host: string
  requests: number
  errors: number
  latencyMs: number | null
  restMs: number
  isWrong: boolean
  head: 'good' | 'behind' | 'doubtful' | 'unknown' | null
}
type ReadNumbers = () => readonly { use: string; nodes: readonly NodeCounters[] }[]

/** Creates the metrics of the chains' nodes. @returns a function that adds a chain */
export function createRpcMetrics(registry: Registry) {
  const chains = new Map<string, ReadNumbers>()
  /** The nodes of every chain, by consumer. */
  const nodes = () =>
    [...chains].flatMap(([chain, read]) => read().map((asked) => ({ chain, ...asked })))
  const { gauge } = metricFactories(registry)
  const ofNode = (name: string, help: string, read: (node: NodeCounters) => number | null) =>
    gauge(name, help, ['chain', 'use', 'host'], () =>
      nodes().flatMap(({ chain, use, nodes }) =>
        nodes.map((node) => [{ chain, use, host: node.host }, read(node)] as const),
      ),
    )
  ofNode(
    'clusterd_rpc_errors',
    'Requests that failed by a fault of the node',
    ({ errors }) => errors,
  )
  ofNode(
    'clusterd_rpc_latency_seconds',
    'Time of recent answers',
    ({ latencyMs }) => latencyMs && latencyMs / 1_000,
  )
  ofNode(
    'clusterd_rpc_rest_seconds',
    'Time for which a node is passed over',
    ({ restMs }) => restMs / 1_000,
  )
  ofNode(
    'clusterd_rpc_wrong_chain',
    '1 while a node serves another chain, or its logs were refuted',
    ({ isWrong }) => Number(isWrong),
  )
  return { watch: (chain: string, read: ReadNumbers): void => void chains.set(chain, read), nodes }
}
