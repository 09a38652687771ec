import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Stack, startStack, until } from 'clusterd/testing'
import { parseEther } from 'viem'
import { deployGate } from '../gate.js'

const NOBODY = `0x${'0'.repeat(64)}`

let world: Stack<'mainnet'>
let gate: Awaited<ReturnType<typeof deployGate>>
before(async () => {
  world = await startStack({ chains: ['1', '8453'], blockMs: 200, seeds: false })
  gate = await deployGate(world)
})
after(() => world?.stop())

describe('NameGate', () => {
  it('opens for the holder of a name, and for nobody else', async () => {
    const tx = await gate.bid(1, 'holder')
    await until.status(world, tx, 'finalized')
    assert.equal(await gate.opensFor(1, 'holder'), true)
    assert.equal(await gate.opensFor(2, 'holder'), false)
  })

  it('gets its money back for a bid that lost', async () => {
    const tx = await gate.bidByGate(3, 'holder')
    await until.status(world, tx, 'lost_bid')
    const to = `0x${'77'.repeat(20)}` as const
    const hash = await gate.takeRefund(3, to)
    await gate.reader.waitForTransactionReceipt({ hash })
    assert.equal(await gate.reader.getBalance({ address: to }), parseEther('0.01'))
  })

  it('closes again after a reorg, and opens once the bid is back', async () => {
    const hub = world.anvils['1']
    await hub.pause()
    const tx = await gate.bid(4, 'reorged')
    await hub.mine()
    assert.equal(await gate.opensFor(4, 'reorged'), true)
    await hub.reorg(1)
    assert.equal(await gate.opensFor(4, 'reorged'), false)
    const again = await gate.bid(5, 'reorged')
    await hub.resume()
    await until.status(world, again, 'finalized')
    assert.equal(await gate.opensFor(5, 'reorged'), true)
    assert.notEqual(tx, again)
  })

  it('stays closed where the bid was dropped', async () => {
    const hub = world.anvils['1']
    await hub.pause()
    const tx = await gate.bid(6, 'dropped')
    await hub.drop(tx)
    await hub.resume()
    await hub.mine(2)
    assert.equal(await gate.holderOf('dropped'), NOBODY)
  })

  it('opens for a name from another chain, however late its message comes', async () => {
    const { spokes } = world.networks.mainnet
    const [wallet] = world.accounts.evm.slice(7)
    const body = {
      network: spokes[0]!.network,
      sender: wallet!.address,
      names: [{ name: 'from-a-spoke' }],
    }
    const quote = await fetch(`${world.api}/v1/names/register/evm`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    const { transactionData } = (await quote.json()) as {
      transactionData: { to: `0x${string}`; data: `0x${string}`; value: string }
    }
    await world.bridge.delay(3_600_000)
    const tx = await gate.sendOnSpoke(7, {
      ...transactionData,
      value: BigInt(transactionData.value),
    })
    await until.status(world, tx, 'bridging')
    assert.equal(await gate.opensFor(7, 'from-a-spoke'), false)
    await world.bridge.hold() // what is on its way, too
    await world.bridge.release()
    await until.status(world, tx, 'finalized')
    assert.equal(await gate.opensFor(7, 'from-a-spoke'), true)
  })

  it('moves in time', async () => {
    const before = await gate.reader.getBlock()
    await world.clock.advance(86_400)
    const after = await gate.reader.getBlock()
    assert.ok(after.timestamp - before.timestamp >= 86_400n)
  })
})
