import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type BridgeWorld, startBridgeWorld } from './bridgeWorld.js'
import { type OnCall, startRpcProxy } from './rpcProxy.js'
import { useWorld } from './useWorld.js'

/** Starts a bridge world for a file's tests. Blocks are mined by themselves again at the begin of each. */
export function useBridge(): BridgeWorld {
  const world = useWorld(() => startBridgeWorld())
  beforeEach(async () => {
    world.aheadMs = 0
    await world.hub.test.setAutomine(true)
  })
  return world
}

/** A proxy of the hub's node that passes everything on before each test. */
export interface NodeProxy {
  /** Address of the proxy. */
  readonly url: string
  /** What the proxy does with each question. */
  onCall: OnCall
}

/** Starts a proxy of the node of a world's hub for a file's tests. */
export function useNodeProxy(world: BridgeWorld): NodeProxy {
  let proxy: { url: string; stop(): Promise<void> }
  const node: NodeProxy = {
    get url() {
      return proxy.url
    },
    onCall: async () => undefined,
  }
  beforeAll(async () => {
    proxy = await startRpcProxy(world.hub.anvil.rpcUrl, (...asked) => node.onCall(...asked))
  })
  afterAll(() => proxy?.stop())
  beforeEach(() => {
    node.onCall = async () => undefined
  })
  return node
}
