import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../src/testing/chains/anvil.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'

const DEADLINE = { timeout: 20_000, interval: 100 }
const SPOKE = { network: 'mainnet', role: 'spoke', contract: `0x${'22'.repeat(20)}`, pollMs: 100 }

let world: HubWorld
let silent: net.Server
let other: Anvil
let silentUrl = ''
beforeAll(async () => {
  const port = await chooseFreePort()
  silentUrl = `http://127.0.0.1:${port}`
  silent = net.createServer(() => {}).listen(port, '127.0.0.1')
  ;[world, other] = await Promise.all([startHubWorld(), startAnvil({ chainId: 900_000_002 })])
  await world.test.mine({ blocks: 5 })
}, 60_000)
afterAll(async () => {
  silent?.close()
  await other?.stop()
  await world?.stop()
})

describe('chains at the start', () => {
  let daemon: TestDaemon
  afterAll(() => daemon?.stop())

  it('that hang, or are wrong, delay neither the port nor the hub, and are reported', async () => {
    const spokes = [
      { ...SPOKE, label: '10', chainId: 10, rpcUrls: [silentUrl] },
      { ...SPOKE, label: '8453', chainId: 8453, rpcUrls: [other.rpcUrl] },
    ]
    daemon = await startTestDaemon(world.postgres.url, {
      chains: [{ ...world.section, pollMs: 100 }, ...spokes],
    })
    // less than a call to a silent node may take
    expect(daemon.startMs).toBeLessThan(10_000)
    expect((await fetch(`${daemon.ops}/ready`)).status).toBe(200)
    expect((await fetch(`${daemon.api}/v1/networks`)).status).toBe(200)
    const wrong = 'chain "8453": has not answered yet'
    await expect
      .poll(async () => (await daemon.status()).problems.join(), DEADLINE)
      .toContain(wrong)
    const { problems } = await daemon.status()
    expect(problems.join()).toMatch(/chain id 900000002, not 8453/)
    expect(problems.join()).toContain('chain "10": has not answered yet')
    const isCaughtUp = () => daemon.metric('clusterd_chain_caught_up')
    await expect
      .poll(isCaughtUp, DEADLINE)
      .toContain('clusterd_chain_caught_up{network="mainnet",chain="1"} 1')
  })

  it('are checked by their id where the hub is new: a wrong hub is refused', async () => {
    const wrong = { ...world.section, network: 'testnet', label: '11155111', chainId: 11155111 }
    const start = startTestDaemon(world.postgres.url, {
      chains: [world.section, { ...wrong, rpcUrls: [other.rpcUrl] }],
    })
    await expect(start).rejects.toThrow(/chain id 900000002, not 11155111/)
  })

  it('with a known hub may have a wrong node: the start continues', async () => {
    const chains = [{ ...world.section, rpcUrls: [other.rpcUrl] }]
    const later = await startTestDaemon(world.postgres.url, { chains }, { ROLES: 'api' })
    expect((await fetch(`${later.ops}/ready`)).status).toBe(200)
    await later.stop()
  })
})

it('a chain is not identified for good by one of two nodes', async () => {
  const lie = `0x${'ab'.repeat(32)}`
  const liar = await startRpcProxy(other.rpcUrl, async (_, body) =>
    body.includes('"0x0"')
      ? (answer) => {
          const { result, ...rest } = JSON.parse(answer)
          return JSON.stringify({ ...rest, result: { ...result, hash: lie } })
        }
      : undefined,
  )
  const spoke = { ...SPOKE, label: '137', chainId: 900_000_002 }
  const later = await startTestDaemon(world.postgres.url, {
    chains: [world.section, { ...spoke, rpcUrls: [liar.url, other.rpcUrl] }],
  })
  await expect
    .poll(async () => (await later.status()).problems.join(), DEADLINE)
    .toMatch(/chain "137": has not answered yet: .*two nodes have to/)
  const { rows } = await world.pool.query(`SELECT genesis_hash FROM chains WHERE label = '137'`)
  expect(rows).toEqual([{ genesis_hash: null }])
  await later.stop()
  await liar.stop()
})
