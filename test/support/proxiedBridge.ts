import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type BridgeWorld, startBridgeWorld } from './bridgeWorld.js'
import { type OnCall, startRpcProxy } from './rpcProxy.js'

/** A bridge world of a file's tests, and a proxy of its hub's node that passes everything on before each test. */
export interface ProxiedBridge {
  readonly world: BridgeWorld
  /** Address of the proxy. */
  readonly url: string
  /** What the proxy does with each question. */
  onCall: OnCall
}

/** Starts the world before a file's tests. Blocks are mined by themselves again at the begin of each. */
export function useProxiedBridge(): ProxiedBridge {
  let world: BridgeWorld
  let proxy: { url: string; stop(): Promise<void> }
  const bridge: ProxiedBridge = {
    get world() {
      return world
    },
    get url() {
      return proxy.url
    },
    onCall: async () => undefined,
  }
  beforeAll(async () => {
    world = await startBridgeWorld()
    proxy = await startRpcProxy(world.hub.anvil.rpcUrl, (...asked) => bridge.onCall(...asked))
  })
  afterAll(async () => {
    await proxy.stop()
    await world.stop()
  })
  beforeEach(async () => {
    world.aheadMs = 0
    bridge.onCall = async () => undefined
    await world.hub.test.setAutomine(true)
  })
  return bridge
}
