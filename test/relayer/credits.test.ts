import { encodeFunctionData, type Hex, pad } from 'viem'
import { describe, expect, it } from 'vitest'
import { encodePlaceBidsCalldata } from '../../src/chains/evm/bridge/calls.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import {
  findCreditOfDirectBids,
  findCreditsOfAddress,
  findCreditsOfReceipts,
} from '../../src/db/bridge/credits.js'
import { findMessagesOfTransaction } from '../../src/db/bridge/packets.js'
import { findChain } from '../../src/db/chains/chains.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import { findJournalledTxs } from '../../src/db/transactions/bids.js'
import { checkRewindTarget } from '../../src/indexer/evm/rewindPoint.js'
import { addressOfWord } from '../../src/registry/primitives/address.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { SPOKE_EID } from '../support/bridgeContracts.js'
import { MINIMUM_WEI, openChains } from '../support/bridgeWorld.js'
import { waitForReceipt } from '../support/receipt.js'
import { useBridge } from '../support/useBridge.js'

const world = useBridge()

const BIDDER = 3
const storedOf = (index: number) => addressOfWord(fromHex(pad(world.wallet(index).address)))
const owed = async (index = BIDDER) => {
  const sums = await findCreditsOfAddress(world.pool, 'mainnet', storedOf(index))
  return sums.flatMap(({ eid, amountWei }) => (amountWei > 0n ? [{ eid, amountWei }] : []))
}

async function onHub(index: number, data: Hex, value = 0n): Promise<Buffer> {
  const hash = await world.hub
    .walletClient(index)
    .sendTransaction({ to: world.contracts.hub, data, value })
  expect((await waitForReceipt(world.hub.public, hash)).status).toBe('success')
  await world.hub.test.mine({ blocks: 2 })
  await world.index()
  return fromHex(hash)
}
const bid = (index: number, name: string, amountWei = MINIMUM_WEI) =>
  onHub(index, encodePlaceBidsCalldata([{ name, amountWei }], null), amountWei)
const asOwner = (functionName: 'pause' | 'unpause') =>
  world.hub
    .walletClient(9)
    .writeContract({ address: world.contracts.hub, abi: hubAbi, functionName })

async function carry(guid: Hex) {
  await world.finish(await world.restart())
  await world.hub.test.mine({ blocks: 2 })
  await world.index()
  const sql = 'SELECT tx_hash AS "txHash" FROM messages WHERE guid = $1'
  const { rows } = await world.pool.query<{ txHash: Buffer }>(sql, [fromHex(guid)])
  const [message] = await findMessagesOfTransaction(world.pool, 'mainnet', rows[0]!.txHash)
  return message!.received!
}

describe('what the hub owes', () => {
  it('is known by account and by the chain that the money came from', async () => {
    await bid(0, 'taken')
    expect(await owed(0)).toEqual([])
    const lost = await bid(BIDDER, 'taken', 2n * MINIMUM_WEI)
    expect(await owed()).toEqual([{ eid: 0, amountWei: 2n * MINIMUM_WEI }])
    expect(await findCreditOfDirectBids(world.pool, 'mainnet', lost)).toMatchObject({
      eid: 0,
      amountWei: 2n * MINIMUM_WEI,
    })

    const received = await carry(await world.send(BIDDER, ['taken']))
    expect(await owed()).toEqual([
      { eid: 0, amountWei: 2n * MINIMUM_WEI },
      { eid: SPOKE_EID, amountWei: MINIMUM_WEI },
    ])
    // a message's credit stands right before its receipt
    const [credit] = await findCreditsOfReceipts(world.pool, 'mainnet', [received])
    const wallet = storedOf(BIDDER)
    expect(credit).toEqual({
      eid: SPOKE_EID,
      amountWei: MINIMUM_WEI,
      wallet,
    })
  })

  it('is no more once it is withdrawn; what was owed for another chain stays', async () => {
    const to = world.wallet(BIDDER).address
    await onHub(
      BIDDER,
      encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args: [to] }),
    )
    expect(await owed()).toEqual([{ eid: SPOKE_EID, amountWei: MINIMUM_WEI }])
  })

  it('comes again with the blocks that a rewind of the hub takes back', async () => {
    const { rows } = await world.pool.query<{ block: number }>(
      'SELECT min(block)::int AS block FROM hub_credits',
    )
    const open = (await openChains(world.pool, world.file)).find(
      ({ config }) => config.label === '1',
    )!
    const row = (await findChain(world.pool, 'mainnet', '1'))!
    const target = await checkRewindTarget(world.pool, open.chain, row, rows[0]!.block)
    await rewindJournal(world.pool, target, { apply: true })
    expect(await owed()).toEqual([])
    await world.releaseIndex()
    await world.index()
    expect(await owed()).toEqual([{ eid: SPOKE_EID, amountWei: MINIMUM_WEI }])
  })
})

describe('a bid over the bridge that reaches a paused hub', () => {
  it('wins nothing, says why, and is owed; the rebuilt state is the same', async () => {
    await asOwner('pause')
    const { txHash } = await carry(await world.send(5, ['paused-a', 'paused-b']))
    await asOwner('unpause')
    const [journalled] = await findJournalledTxs(world.pool, 'mainnet', [txHash])
    expect(journalled!.bids.map(({ name, outcome, reason }) => [name, outcome, reason])).toEqual([
      ['paused-a', 'refused', 'paused'],
      ['paused-b', 'refused', 'paused'],
    ])
    expect(await owed(5)).toEqual([{ eid: SPOKE_EID, amountWei: 2n * MINIMUM_WEI }])
    await bid(6, 'paused-a')
    const { rows } = await world.pool.query(
      `SELECT name FROM names WHERE outcome = 1 AND name LIKE 'paused%'`,
    )
    expect(rows).toEqual([{ name: 'paused-a' }])
    const { live, rebuilt } = await replayJournal(world.pool, 'mainnet')
    expect(rebuilt).toEqual(live)
  })
})
