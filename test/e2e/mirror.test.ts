import { createPublicClient, http } from 'viem'
import { describe, expect, it } from 'vitest'
import { Client, type FeedEvent, type HubNode } from '../../src/client/index.js'
import { world } from '../support/world.js'

const client = new Client({ url: world().api })
const testnet = new Client({ url: world().api, testnet: true })
const FALSE = `0x${'1'.repeat(64)}`
const refused = (call: Promise<unknown>, code: string) =>
  expect(call).rejects.toMatchObject({ code })

describe('a mirror of the feed', () => {
  it('is held against the checkpoint of the service', async () => {
    for (const [network, one] of Object.entries({ mainnet: client, testnet }))
      await expect
        .poll(async () => (await one.verifyFeed()).count, { timeout: 30_000, message: network })
        .toBeGreaterThan(5)
    const { items } = await client.eventsPage({ limit: 10 })
    expect((await client.verifyFeed({ mirror: items })).count).toBeLessThanOrEqual(items.length)
    await client.verifyFeed({ mirror: client.events() })
    async function* forged() {
      for await (const event of client.events())
        yield event.id === items[3]!.id ? { ...event, from: `0x${'12'.repeat(20)}` } : event
    }
    await refused(client.verifyFeed({ mirror: forged() }), 'feed_mismatch')
    await refused(testnet.verifyFeed({ mirror: client.events() }), 'feed_mismatch')
  })

  it('is held against the hub, by any node', async () => {
    const { rpcUrl, contracts } = world().networks.mainnet.hub
    const node = createPublicClient({ transport: http(rpcUrl) })
    const { hub } = contracts
    const proof = await client.verifyRegistry({ hub, node })
    const mirror: FeedEvent[] = []
    for await (const event of client.events({ follow: false })) mirror.push(event)
    expect(mirror.map(({ type }) => type)).toContain('REGISTER_NAME')
    const more = await client.verifyRegistry({ hub, node, mirror })
    expect(more.checkpoint.count).toBeGreaterThanOrEqual(proof.checkpoint.count)
    await refused(
      client.verifyRegistry({ hub, node, mirror: mirror.toReversed() }),
      'feed_mismatch',
    )
    await refused(client.verifyRegistry({ hub, node, mirror: [] }), 'feed_mismatch')
    await refused(client.verifyRegistry({ hub: contracts.token, node }), 'registry_mismatch')
    // a node of another chain does not know the block
    const ofTestnet = world().networks.testnet.hub.contracts.hub
    await expect(testnet.verifyRegistry({ hub: ofTestnet, node })).rejects.toMatchObject({
      code: -32001,
    })
    // a service that repeats the hub's record beside names of its own making
    const records = proof.contracts.map(({ recordHash }): unknown => recordHash)
    const request = async (call: Parameters<HubNode['request']>[0]) => {
      const word = await node.request(call as never)
      return records.includes(word) ? word : FALSE
    }
    await refused(client.verifyRegistry({ hub, node: { request } }), 'registry_mismatch')
  })
})
