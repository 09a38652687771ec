import { describe, expect, it } from 'vitest'
import { memberOf } from './members.js'
import { bid, freshName, randomAddress, useApi } from './support.js'
import { solanaAccount } from './wallets.js'

const world = useApi()

const read = async (query = '') => (await world.get(`/v1/overview${query}`)).body
const settled = (expected: object) => expect.poll(() => read(), { timeout: 10_000 }).toMatchObject(expected)

describe('GET /v1/overview', () => {
  it('counts clusters and events', async () => {
    const name = freshName()
    await world.append('testnet', [
      bid({ from: randomAddress(), name }),
      bid({ from: randomAddress(), name: freshName() }),
      bid({ from: randomAddress(), name }),
    ])
    expect((await read('?testnet=true')).counts).toEqual({ clusters: 2, events: 6 })
    expect((await read()).counts.events).toBe(0)
  })

  it('lists the network’s chains, also those that nobody reads yet', async () => {
    const { chains } = await read()
    expect(chains).toEqual([{ network: '1', block: null, confirmed: null, behindSeconds: null, isHealthy: false }])
  })

  it('has no private wallet in any number', async () => {
    const owner = await memberOf(world)
    expect(await owner.create()).toMatch(/^0x/)
    await settled({ counts: { clusters: 1 } })
    const before = await read()
    const hidden = { address: solanaAccount().address, name: 'hidden', isPrivate: true }
    expect((await owner.add([hidden])).status).toBe(200)
    // a public change afterwards shows that the count is of a later moment
    const shown = { address: randomAddress(), name: 'shown', isPrivate: false }
    expect((await owner.add([shown])).status).toBe(200)
    await settled({ counts: { ...before.counts, events: before.counts.events + 1 } })
  })
})
