import type { Registry } from 'prom-client'
import { makersOf } from './makers.js'

/** A node of a chain, by who asks it, with times in ms; by its host, since the path of a URL may hold a key. */
export interface NodeNumbers {
  host: string
  requests: number
  errors: number
  latencyMs: number | null
  restMs: number
  isWrong: boolean
  head: 'good' | 'behind' | 'doubtful' | 'unknown' | null
}
type ReadNumbers = () => readonly { use: string; nodes: readonly NodeNumbers[] }[]

/** Creates the metrics of RPC nodes. @returns what adds a chain to them */
export function createRpcMetrics(registry: Registry) {
  const chains = new Map<string, ReadNumbers>()
  const { gauge } = makersOf(registry)
  const labels = ['chain', 'use', 'host'] as const
  const gauges = {
    errors: gauge('clusterd_rpc_errors', 'Requests that failed by a fault of the node', labels, () => show()),
    latency: gauge('clusterd_rpc_latency_seconds', 'Time of recent answers', labels),
    rest: gauge('clusterd_rpc_rest_seconds', 'Time for which a node is passed over', labels),
    wrong: gauge('clusterd_rpc_wrong_chain', '1 while a node serves another chain, or its logs were refuted', labels),
  }
  const show = () => {
    for (const one of Object.values(gauges)) one.reset()
    for (const [chain, read] of chains)
      for (const { use, nodes } of read()) for (const node of nodes) set({ chain, use, host: node.host }, node)
  }
  const set = (at: Record<(typeof labels)[number], string>, node: NodeNumbers) => {
    gauges.errors.set(at, node.errors)
    if (node.latencyMs !== null) gauges.latency.set(at, node.latencyMs / 1_000)
    gauges.rest.set(at, node.restMs / 1_000)
    gauges.wrong.set(at, Number(node.isWrong))
  }
  return {
    watch: (chain: string, read: ReadNumbers): void => void chains.set(chain, read),
    /** The nodes of every chain, by who asks them. */
    nodes: () => [...chains].flatMap(([chain, read]) => read().map((asked) => ({ chain, ...asked }))),
  }
}
