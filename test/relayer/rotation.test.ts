import { parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { REPLACE_AFTER_BLOCKS } from '../../src/relayer/machine/index.js'
import type { SteppedRelayer } from '../support/bridgeWorld.js'
import { executeOf } from '../support/kill.js'
import { holdBlocks } from '../support/miner.js'
import { useBridge } from '../support/useBridge.js'

/** Beyond the pause after a failure, and between two counts. */
const PAUSE_MS = 60_000
const next = privateKeyToAccount(`0x${'6f'.repeat(32)}`)

const world = useBridge()
beforeAll(() => world.hub.test.setBalance({ address: next.address, value: parseEther('100') }))

const countOf = async (signer: string): Promise<{ chain: number; stored: number }> => {
  const { rows } = await world.pool.query<{ signer: Buffer; next_nonce: string }>(
    'SELECT * FROM relay_signers',
  )
  const row = rows.find((one) => toHex(one.signer) === signer.toLowerCase())
  const chain = await world.hub.public.getTransactionCount({ address: signer as `0x${string}` })
  return { chain, stored: Number(row?.next_nonce ?? 0) }
}

/** One message's execution and another's verification are sent by the earlier key, and in no block yet. */
async function rotate(names: readonly [string, string]) {
  const earlier = await world.restart()
  await world.finish(earlier)
  const first = await world.send(0, [names[0]])
  await earlier.step()
  await holdBlocks(world.hub)
  await world.run(earlier)
  const second = await world.send(1, [names[1]])
  await world.run(earlier)
  expect(await executeOf(world, first)).toMatchObject({ state: 'sent' })
  expect(await executeOf(world, second)).toMatchObject({ state: 'queued', nonce: null })
  return { first, second, relayer: await world.restart({ account: next }) }
}

async function expectOnce(
  relayer: SteppedRelayer,
  first: `0x${string}`,
  second: `0x${string}`,
): Promise<void> {
  await world.hub.test.setAutomine(true)
  await world.finish(relayer)
  for (const guid of [first, second]) expect(await world.executions(guid)).toBe(1)
  const signers = [await executeOf(world, first), await executeOf(world, second)].map(
    ({ signer }) => toHex(signer!),
  )
  expect(signers).toEqual([world.relayer, next.address].map((address) => address.toLowerCase()))
  for (const address of [world.relayer, next.address]) {
    const { chain, stored } = await countOf(address)
    expect(chain).toBe(stored)
  }
  world.aheadMs += PAUSE_MS
  await relayer.step()
  expect(relayer.state.nonceGaps).toBe(0)
  expect((await world.jobs()).filter(({ state }) => state !== 'confirmed')).toEqual([])
}

describe('a daemon that begins with another key', () => {
  it('follows what the earlier one has under way, and carries the rest', async () => {
    const { first, second, relayer } = await rotate(['under-way', 'behind'])
    await world.run(relayer)
    await expectOnce(relayer, first, second)
  })

  it('sends again what the earlier one has signed and nodes have dropped', async () => {
    const { first, second, relayer } = await rotate(['dropped', 'behind-it'])
    await world.hub.test.request({ method: 'anvil_dropAllTransactions' } as never)
    // its price is still enough, and a replacement would pay more
    const { maxFeePerGas } = (await executeOf(world, first)).txs[0]!
    await world.hub.test.setNextBlockBaseFeePerGas({ baseFeePerGas: (maxFeePerGas * 9n) / 10n })
    await world.hub.test.mine({ blocks: REPLACE_AFTER_BLOCKS })
    for (let i = 0; i < 3; i++) {
      await world.run(relayer)
      world.aheadMs += PAUSE_MS
    }
    expect(await world.hub.test.getTxpoolStatus()).toMatchObject({ pending: 2 })
    await expectOnce(relayer, first, second)
  })
})
