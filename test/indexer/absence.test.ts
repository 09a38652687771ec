import { beforeAll, expect, it } from 'vitest'
import type { CommunityPaymentRequest } from '../../src/chains/chain.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { openChains, startBridgeWorld } from '../support/bridgeWorld.js'
import { allMined, replaceNewestBlocks } from '../support/miner.js'
import { waitForReceipt } from '../support/receipt.js'
import { useWorld } from '../support/useWorld.js'

/** More than the blocks that a test mines on top of what it sends. */
const CONFIRMATION_BLOCKS = 10
/** More blocks than are followed one by one, and than the last seen tail can confirm. */
const AWAY_BLOCKS = 100

const world = useWorld(() => startBridgeWorld({ payments: true }))
beforeAll(async () => {
  const { chains } = world.file as { chains: { confirmation: object }[] }
  for (const chain of chains) chain.confirmation = { blocks: CONFIRMATION_BLOCKS }
  for (const side of [world.hub, world.spoke]) await side.test.mine({ blocks: CONFIRMATION_BLOCKS })
  await world.index()
})

type Side = 'hub' | 'spoke'
const headOf = (side: Side): Promise<bigint> => world[side].public.getBlockNumber({ cacheTime: 0 })
const count = async (sql: string): Promise<number> => (await world.pool.query(sql)).rowCount!

/** Replaces all blocks of a chain after one by empty ones, and indexes it again once the chain is far ahead. */
async function reorgWhileAway(side: Side, after: bigint): Promise<void> {
  await allMined(world[side])
  await replaceNewestBlocks(world[side], Number((await headOf(side)) - after))
  await world[side].test.mine({ blocks: AWAY_BLOCKS })
  await world.index()
}

it('a message that a reorg removed while no indexer ran is forgotten', async () => {
  const before = await headOf('spoke')
  await world.send(0, ['gone'])
  expect(await count('SELECT FROM messages WHERE NOT confirmed')).toBe(1)
  await reorgWhileAway('spoke', before)
  expect(await count('SELECT FROM messages')).toBe(0)
})

it('a payment that a reorg removed while no indexer ran is forgotten, and reserves no name', async () => {
  for (const [side, label] of [
    ['spoke', '8453'],
    ['hub', '1'],
  ] as const) {
    const before = await headOf(side)
    const { chain } = (await openChains(world.pool, world.file)).find(
      ({ config }) => config.label === label,
    )!
    const recipient = world.wallet(8).address.toLowerCase()
    const request: CommunityPaymentRequest = {
      community: 'club',
      name: 'gone',
      payer: world.wallet(1).address.toLowerCase(),
      referral: null,
      price: { network: label, token: 'native', amount: 1_000n, recipient },
    }
    const { type: _, ...payment } = await chain.communityPayment(request)
    const hash = await world[side].walletClient(1).sendTransaction({ ...payment, gas: 500_000n })
    await waitForReceipt(world[side].public, hash)
    await world.index()
    expect(await count('SELECT FROM payments WHERE state = 0')).toBe(1)
    await reorgWhileAway(side, before)
    expect(await count('SELECT FROM payments')).toBe(0)
  }
})

it('a message whose receipt a reorg removed while no indexer ran is delivered, once', async () => {
  const guid = await world.send(2, ['kept'])
  await world.spoke.test.mine({ blocks: CONFIRMATION_BLOCKS })
  await world.index()
  const before = await headOf('hub')
  const relayer = await world.restart()
  for (let i = 0; i < 4; i++) await world.run(relayer)
  await world.index()
  expect(await world.executions(guid)).toBe(1)
  const received = 'SELECT FROM received WHERE NOT confirmed'
  expect(await count(received)).toBe(1)
  // somebody else delivered it: this relayer has no job for it
  await world.release()
  await world.pool.query('TRUNCATE jobs, relay_signers')
  await reorgWhileAway('hub', before)
  expect(await world.executions(guid)).toBe(0)
  expect(await count(received)).toBe(0)
  const again = await world.restart()
  await world.finish(again)
  await world.hub.test.mine({ blocks: CONFIRMATION_BLOCKS })
  await world.index()
  await again.step()
  expect(await world.executions(guid)).toBe(1)
  const { rows } = await world.pool.query('SELECT settled FROM messages WHERE guid = $1', [
    fromHex(guid),
  ])
  expect(rows).toEqual([{ settled: true }])
})
