import { type Hex, parseEther, zeroHash } from 'viem'
import { describe, expect, it } from 'vitest'
import { buildDeliverBidsCall } from '../../src/chains/evm/bridge/calls.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import type { HubNameTarget, StoredPayment } from '../../src/registry/payment/payment.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { executeOperatorJobAction } from '../../src/relayer/operatorActions.js'
import { MINIMUM_WEI } from '../support/bridgeWorld.js'
import { insertPayment, type TestPayment } from '../support/payments.js'
import { useBridge } from '../support/useBridge.js'
import { storeUnconfirmedReceipt } from './deliveries.js'

const world = useBridge()

const pay = async (payment: TestPayment): Promise<Hex> =>
  toHex(await insertPayment(world.pool, payment))
const deliveryOf = async (id: Hex) =>
  (await world.jobs()).find(({ payment }) => payment && toHex(payment.id) === id)
const ownerOf = (name: string) =>
  world.hub.public.readContract({
    address: world.contracts.hub,
    abi: hubAbi,
    functionName: 'ownerOf',
    args: [toHex(nameToWord(name))],
  })
const asOwner = (
  call: { functionName: 'pause' | 'unpause' } | { functionName: 'setDeliverLimit'; args: [bigint] },
) =>
  world.hub
    .walletClient(9)
    .writeContract({ address: world.contracts.hub, abi: hubAbi, args: [], ...call })
const PAYER = Buffer.alloc(32, 0xa7)

describe('a payment', () => {
  it('is delivered to the hub once, with its name, its payer and its amount', async () => {
    const referral = Buffer.alloc(32, 0x31)
    const id = await pay({ name: 'paid', payer: PAYER, amountWei: 3n * MINIMUM_WEI, referral })
    const relayer = await world.restart()
    await world.finish(relayer)
    expect(await deliveryOf(id)).toMatchObject({
      kind: 'deliver',
      state: 'confirmed',
      valueWei: 0n,
    })
    expect(await world.executions(id)).toBe(1)
    expect(await ownerOf('paid')).toBe(toHex(PAYER))
    const bids = await world.hub.public.getContractEvents({
      address: world.contracts.hub,
      abi: hubAbi.filter(
        (item) => item.type === 'event' && item.name === 'Bid' && item.inputs.length === 4,
      ),
      fromBlock: 0n,
    })
    expect(bids.at(-1)!.args).toMatchObject({
      from: toHex(PAYER),
      amount: 3n * MINIMUM_WEI,
      referral: toHex(referral),
    })
    await world.index()
    expect(await relayer.step()).toBe('idle')
  })

  it.each<[string, Partial<TestPayment>]>([
    ['is not confirmed yet', { confirmed: false }],
    ['keeps to no quote of ours', { verdict: 'foreign' }],
  ])('that %s is not delivered', async (_, how) => {
    const id = await pay({ name: 'never', ...how })
    const relayer = await world.restart()
    await relayer.step()
    expect(await deliveryOf(id)).toBeUndefined()
  })

  it('is delivered although a node shows an unconfirmed receipt of it on the hub', async () => {
    const id = await pay({ name: 'hidden' })
    await storeUnconfirmedReceipt(world, id)
    const relayer = await world.restart()
    await world.finish(relayer)
    expect(await world.executions(id)).toBe(1)
    expect(await ownerOf('hidden')).not.toBe(zeroHash)
  })

  it('waits while the hub’s limit for the day is reached', async () => {
    const relayer = await world.restart()
    const id = await pay({ name: 'later', amountWei: parseEther('2') })
    const limit = {
      address: world.contracts.hub,
      abi: hubAbi,
      functionName: 'deliverLimit',
    } as const
    const before = await world.hub.public.readContract(limit)
    await asOwner({ functionName: 'setDeliverLimit', args: [parseEther('2')] })
    await world.run(relayer)
    expect(await deliveryOf(id)).toMatchObject({
      state: 'queued',
      reason: 'deliver_limit_exceeded',
      nonce: null,
    })
    await asOwner({ functionName: 'setDeliverLimit', args: [before] })
    world.aheadMs += 20_000
    await world.finish(relayer)
    expect(await world.executions(id)).toBe(1)
  })

  it('that comes after a bid from a spoke loses, and the other way round', async () => {
    const relayer = await world.restart()
    const spoke = await world.send(0, ['both'])
    await world.finish(relayer)
    const id = await pay({ name: 'both' })
    await world.finish(relayer)
    expect([await world.executions(spoke), await world.executions(id)]).toEqual([1, 1])
    expect(await ownerOf('both')).toBe(
      `0x${world.wallet(0).address.slice(2).toLowerCase().padStart(64, '0')}`,
    )
    const first = await pay({ name: 'twice', payer: PAYER })
    const second = await pay({ name: 'twice' })
    await world.finish(relayer)
    expect([await world.executions(first), await world.executions(second)]).toEqual([1, 1])
    expect(await ownerOf('twice')).toBe(toHex(PAYER))
  })

  it('that was parked ends when the hub has taken it', async () => {
    const relayer = await world.restart()
    await asOwner({ functionName: 'pause' })
    const id = await pay({ name: 'by-hand' })
    await world.run(relayer)
    await executeOperatorJobAction(world.pool, 'park', (await deliveryOf(id))!.id)
    await asOwner({ functionName: 'unpause' })
    await world.hub.test.impersonateAccount({ address: world.relayer })
    await world.hub.public.request({
      method: 'eth_sendTransaction' as never,
      params: [await byHand(id)] as never,
    })
    await world.hub.test.mine({ blocks: 3 })
    await world.index()
    await relayer.step()
    expect(await deliveryOf(id)).toMatchObject({ state: 'confirmed', reason: null })
    expect(await world.executions(id)).toBe(1)
  })
})

async function byHand(id: Hex) {
  const { sequence, payer, target, referral } = (await deliveryOf(id))!
    .payment as StoredPayment<HubNameTarget>
  const paid = {
    sequence: BigInt(sequence),
    from: payer.subarray(1),
    referral: referral ?? Buffer.alloc(32),
  }
  return {
    from: world.relayer,
    ...buildDeliverBidsCall(world.contracts.hub, [{ ...target, ...paid }]),
  }
}
