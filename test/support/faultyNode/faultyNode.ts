import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  type FaultProxy,
  type FaultProxyOptions,
  startFaultProxy,
} from '../../../src/testing/faultProxy/faultProxy.js'
import { FAULT_KINDS, type FaultKind } from '../../../src/testing/faultProxy/kinds.js'
import { integerBetween, seededRandomNumber } from '../../../src/testing/faultProxy/random.js'
import {
  createUpstreamCaller,
  type RpcAnswer,
  type RpcCall,
} from '../../../src/testing/faultProxy/upstream.js'
import { seededRandomSequence } from '../random.js'
import { startTcpProxy } from '../tcpProxy.js'
import { createSimulatedFork } from './forks.js'
import { type LieMethod, wrongAnswerTo } from './lies.js'

const HOST = '127.0.0.1'
const FORK_BLOCKS = 2

/** `other_fork`: a node on another fork, whose newest blocks differ, with other bidders in their logs. */
export type NodeFaultKind = FaultKind | 'other_fork'
export const NODE_FAULT_KINDS: readonly NodeFaultKind[] = [...FAULT_KINDS, 'other_fork']
/** Probability of each fault for each call to which it applies. */
export type NodeFaults = Partial<Record<NodeFaultKind, number>>

export interface FaultyNodeOptions extends Omit<FaultProxyOptions, 'faults' | 'limits'> {
  faults?: NodeFaults
  /** `forkBlocks`: length of the simulated fork (default 2), shorter than the confirmation depth. */
  limits?: FaultProxyOptions['limits'] & { forkBlocks?: number }
}

export interface FaultyNode extends Omit<FaultProxy, 'counts' | 'set'> {
  /** Numbers of faults so far, by kind. */
  counts(): Record<NodeFaultKind | 'lie', number>
  set(faults: NodeFaults): void
  /** Keeps every connection open without an answer. `restore` forwards the waiting requests. */
  silence(): void
  /** Makes the next answer to a method wrong, once. `restore` cancels this if no call has come. */
  lieOnce(method: LieMethod): void
  /** Freezes the finalized block until `restore`. */
  stallFinality(): Promise<void>
}

/**
 * Starts a fault proxy whose node is worse than a real one: it lies, is on another fork, stalls finality, and falls
 * silent. Requests pass a TCP proxy, the fault proxy, and a proxy that changes what the node answers.
 */
export async function startFaultyNode(options: FaultyNodeOptions): Promise<FaultyNode> {
  const {
    target,
    seed,
    faults = {},
    limits: { forkBlocks = FORK_BLOCKS, ...limits } = {},
  } = options
  const upstream = createUpstreamCaller(target.rpcUrl)
  const forks = createSimulatedFork(seed, upstream, forkBlocks)
  const counts = { other_fork: 0, lie: 0 }
  const lies = new Set<string>()
  const ordinals = new Map<string, number>()
  let forkShare = 0
  let finalized: string | null = null

  const wrongAnswer = async (call: RpcCall): Promise<RpcAnswer | null> => {
    const { method } = call
    const ordinal = (ordinals.get(method) ?? 0) + 1
    ordinals.set(method, ordinal)
    if (lies.has(method)) {
      const next = seededRandomSequence(seed, 'answer', method, ordinal)
      const lie = await wrongAnswerTo(call, upstream, next)
      if (lie && lies.delete(method)) {
        counts.lie += 1
        return lie
      }
    }
    if (seededRandomNumber(seed, 'other_fork', method, ordinal) >= forkShare) return null
    const depth = integerBetween(seededRandomNumber(seed, 'depth', method, ordinal), 1, forkBlocks)
    const forked = await forks.block(call, depth)
    if (forked) counts.other_fork += 1
    return forked
  }
  const answerCall = async ({ params = [], ...rest }: RpcCall) => {
    const shown = params.map((param) => (param === 'finalized' ? (finalized ?? param) : param))
    const call = { ...rest, params: shown }
    const answer =
      (await forks.known(call)) ??
      (await wrongAnswer(call)) ??
      (await upstream(call.method, call.params))
    return { jsonrpc: '2.0', id: call.id, ...answer }
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const body = JSON.parse(await text(request)) as RpcCall | RpcCall[]
      const answers = await (Array.isArray(body)
        ? Promise.all(body.map(answerCall))
        : answerCall(body))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers))
    } catch {
      request.socket.destroy()
    }
  }
  const server = createServer((request, response) => void answer(request, response))
  await once(server.listen(0, HOST), 'listening')
  const { port } = server.address() as AddressInfo
  const proxy = await startFaultProxy({
    target: { rpcUrl: `http://${HOST}:${port}`, wsUrl: target.wsUrl },
    seed,
    limits,
  })
  const wire = await startTcpProxy({ port: Number(new URL(proxy.rpcUrl).port) })

  const set = ({ other_fork = 0, ...others }: NodeFaults) => {
    forkShare = other_fork
    proxy.set(others)
  }
  set(faults)
  return {
    rpcUrl: `http://${HOST}:${wire.port}`,
    wsUrl: `ws://${HOST}:${wire.port}`,
    counts: () => ({ ...proxy.counts(), ...counts }),
    set,
    cut: wire.cut,
    silence: wire.hold,
    lieOnce: (method) => void lies.add(method),
    async stallFinality() {
      const { result } = await upstream('eth_getBlockByNumber', ['finalized', false])
      finalized = (result as { number: string } | null)?.number ?? null
    },
    restore() {
      wire.restore()
      lies.clear()
      finalized = null
    },
    async stop() {
      await wire.stop()
      await proxy.stop()
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
