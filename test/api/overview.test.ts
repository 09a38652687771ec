import { expect, it } from 'vitest'
import { bid, freshName, randomAddress, useApi } from './support.js'

const world = useApi()
const read = async (query = '') => (await world.get(`/v1/overview${query}`)).body
it('the overview counts clusters and events', async () => {
  const name = freshName()
  await world.append('testnet', [
    bid({ from: randomAddress(), name }),
    bid({ from: randomAddress(), name: freshName() }),
    bid({ from: randomAddress(), name }),
  ])
  expect((await read('?testnet=true')).counts).toEqual({ clusters: 2, events: 6 })
  expect((await read()).counts.events).toBe(0)
})

it('the overview lists the network’s chains, including chains that are not indexed yet', async () => {
  const { chains } = await read()
  expect(chains).toEqual([
    {
      network: '1',
      block: null,
      confirmed: null,
      behindSeconds: null,
      confirmSeconds: null,
      isHealthy: false,
    },
  ])
})

it('the overview has the default bid, or the hub’s minimum where it is higher', async () => {
  expect((await read()).bidWei).toBe('10000000000000000')
})
