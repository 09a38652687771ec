import { encodeFunctionData, getAddress, type Hex, parseAbi, toCoinType } from 'viem'
import { describe, expect, it } from 'vitest'
import { randomAddress, secondApi } from '../api/support.js'
import { ENS_CHAIN_ID } from '../support/ens.js'
import { useWorld } from '../support/useWorld.js'
import { L2_REGISTRAR, startEnsWorld } from './world.js'

/** viem as npm has it, against the whole way of a primary name. */
const world = useWorld(() => startEnsWorld())

const setNameAbi = parseAbi(['function setName(string name)'])
const calldata = (name: string) => encodeFunctionData({ abi: setNameAbi, args: [name] })

const primaryOf = (name: string, address: string, query = '') =>
  world.api.get(`/v1/names/${encodeURIComponent(name)}/primary/${address}${query}`)

const nameOf = (address: string, coinType?: bigint) =>
  world.viem.getEnsName({ address: address as Hex, ...(coinType && { coinType }) })

/** Sends a transaction as the wallet would. */
async function send(from: string, { to, data }: { to: Hex; data: Hex }): Promise<void> {
  const { contracts } = world
  await contracts.impersonate(from as Hex)
  await contracts.succeed({ from: from as Hex, to, data })
}

describe('the primary name of a wallet', () => {
  it.each([
    ['the wallet that the name stands for', 'seedling', 'late', 'seedling.bundles.eth'],
    ['a wallet by its own name', 'seedling/first', 'alice', 'first.seedling.bundles.eth'],
    ['a wallet below a community', 'seedling/bob', 'bob', 'bob.seedling.bundles.eth'],
  ] as const)('is shown once it has sent the transaction: %s', async (_, name, who, ensName) => {
    const { address } = world.people[who]
    expect(await nameOf(address)).toBeNull()
    const { status, body } = await primaryOf(name, getAddress(address))
    const to = (chainId: number, registrar: Hex) => ({
      chainId,
      transaction: { chainId, to: registrar, data: calldata(ensName), value: '0' },
      reason: null,
      current: null,
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      ensName,
      chains: [to(8453, L2_REGISTRAR), to(ENS_CHAIN_ID, world.reverseRegistrar)],
    })
    await send(address, body.chains[1].transaction)
    expect(await nameOf(address)).toBe(ensName)
    expect(await nameOf(address, toCoinType(8453)), 'Base has no registrar here').toBeNull()
  })

  it.each([
    ['a wallet that another name stands for', 'seedling', 'hot', 'other_address'],
    ['a private wallet', 'seedling/secret', 'secret', 'other_address'],
    ['a free name', 'free', 'hot', 'other_address'],
    ['a wallet of Solana', 'sunny', 'payer', 'other_address'],
    ['a name that ENS refuses', 'a_b', 'hot', 'not_in_ens'],
  ] as const)('has no transaction: %s', async (_, name, who, reason) => {
    const { body } = await primaryOf(name, world.people[who].address)
    expect(body.chains).toEqual([
      { chainId: 8453, transaction: null, reason, current: null },
      { chainId: ENS_CHAIN_ID, transaction: null, reason, current: null },
    ])
  })

  it('is null where the wallet claims a name of another one, or a free one', async () => {
    const { hot } = world.people
    for (const name of ['seedling.bundles.eth', 'free.bundles.eth']) {
      await send(hot.address, { to: world.reverseRegistrar, data: calldata(name) })
      expect(await nameOf(hot.address), name).toBeNull()
    }
  })
})

it('no text is a name, and a network without a registrar has no transaction', async () => {
  const address = randomAddress()
  expect(await primaryOf('a b', address)).toMatchObject({
    status: 400,
    body: { error: 'invalid_name' },
  })
  const { body } = await primaryOf('tester', world.people.bob.address, '?testnet=true')
  expect(body).toEqual({ ensName: 'tester.testers.eth', chains: [] })
})

it('a service without an ENS name answers 404', async () => {
  const other = await secondApi(world.api, {})
  const reply = await fetch(`${other.url}/v1/names/seedling/primary/${randomAddress()}`)
  expect(reply.status).toBe(404)
  expect(await reply.json()).toMatchObject({ error: 'not_found' })
  await other.stop()
})
