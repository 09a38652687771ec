import { encodeAbiParameters, type Hex, pad, toEventSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../../registry/primitives/bytes.js'
import { nameToWord } from '../../../registry/primitives/name.js'
import { decodeLogs, isRegistrationLog, logFilterOfContracts } from '../decodeLogs.js'
import type { RawLog } from '../logs.js'
import {
  decodeCommunityPayments,
  decodePaymentOutcomes,
  HELD_EVENT_TOPIC,
  PAYMENT_EVENT_TOPIC,
} from './logs.js'

const PAYMENTS: Hex = `0x${'cc'.repeat(20)}`
const HUB: Hex = `0x${'aa'.repeat(20)}`
const PAYER: Hex = `0x${'11'.repeat(20)}`
const TX_HASH: Hex = `0x${'ab'.repeat(32)}`
const PAYMENT_ID: Hex = `0x${'1d'.repeat(32)}`
const nameWord = (name: string): Hex => toHex(nameToWord(name))

const logWith = (
  topic: Hex,
  data: Hex,
  logIndex: number,
  changes: Partial<RawLog> = {},
): RawLog => ({
  address: PAYMENTS,
  topics: [topic],
  data,
  blockNumber: '0x7',
  blockHash: TX_HASH,
  transactionHash: TX_HASH,
  logIndex: `0x${logIndex.toString(16)}`,
  ...changes,
})
const BID_WORDS = [
  'bytes32',
  'uint256',
  'address',
  'uint256',
  'address',
  'bytes32',
  'bytes32',
  'bytes32',
] as const
const bidData = encodeAbiParameters(
  BID_WORDS.map((type) => ({ type })),
  [pad(PAYER), 1n, PAYER, 5n, HUB, nameWord('club'), nameWord('foo'), pad('0x')],
)
const heldData = encodeAbiParameters([{ type: 'uint64' }, { type: 'uint64' }], [7n, 3_600n])
const bidLog = (logIndex: number, changes?: Partial<RawLog>) =>
  logWith(PAYMENT_EVENT_TOPIC, bidData, logIndex, changes)
const heldLog = (logIndex: number, changes?: Partial<RawLog>) =>
  logWith(HELD_EVENT_TOPIC, heldData, logIndex, {
    topics: [HELD_EVENT_TOPIC, PAYMENT_ID],
    ...changes,
  })
const OUR_CONTRACTS = {
  role: 'hub',
  chain: 1,
  chainId: 1,
  contract: HUB,
  communityPayments: PAYMENTS,
} as const
const neverCalled = async () => Promise.reject(new Error('nothing is asked'))
const decodePayments = (...logs: RawLog[]) => decodeCommunityPayments(logs, () => 9_000)

describe('logs of a payments contract', () => {
  it('are payments, each a Bid followed by its Held', () => {
    const [payment, ...others] = decodePayments(bidLog(3), heldLog(4))
    expect(others).toEqual([])
    expect({ ...payment, id: toHex(payment!.id), payer: toHex(payment!.payer) }).toMatchObject({
      id: PAYMENT_ID,
      block: 7,
      sequence: 3,
      payer: `0x01${'11'.repeat(20)}`,
      money: { token: PAYER, amount: 5n },
      referral: null,
      paidMs: 9_000,
      target: { recipient: HUB, number: 7n, reclaimableMs: 3_600_000 },
    })
    expect(decodePayments(bidLog(3), heldLog(4), bidLog(7), heldLog(8))).toHaveLength(2)
  })

  it.each([
    ['a Held alone', [heldLog(4)]],
    ['a Held of another Bid', [bidLog(3), heldLog(4)]],
  ])('are asked for again where a node gave %s', async (_, logs) => {
    await expect(decodeLogs(neverCalled, OUR_CONTRACTS, logs, () => 9_000)).rejects.toThrow(
      /a payment has not the id that it makes/,
    )
  })

  it('show how payments end, by their ids', () => {
    const end = (name: string, id: Hex[] = [PAYMENT_ID]) =>
      logWith(HELD_EVENT_TOPIC, '0x', 1, {
        topics: [toEventSelector(`${name}(bytes32,address,address,uint256)`), ...id],
      })
    const ends = decodePaymentOutcomes([
      bidLog(3),
      heldLog(4),
      end('Refused'),
      end('Released'),
      end('Reclaimed'),
      end('Refused', []),
    ])
    const block = 7
    const id = fromHex(PAYMENT_ID)
    expect(ends).toEqual(
      (['refused', 'released', 'reclaimed'] as const).map((outcome) => ({ id, outcome, block })),
    )
  })

  it('are read only from the payments contract', async () => {
    expect(logFilterOfContracts(OUR_CONTRACTS).addresses).toEqual([HUB, PAYMENTS])
    expect(isRegistrationLog(OUR_CONTRACTS, bidLog(3))).toBe(true)
    expect(isRegistrationLog(OUR_CONTRACTS, bidLog(3, { address: HUB }))).toBe(false)
    expect(isRegistrationLog({ ...OUR_CONTRACTS, communityPayments: undefined }, bidLog(3))).toBe(
      false,
    )
    const logs = [bidLog(1, { address: HUB }), heldLog(2, { address: HUB }), bidLog(3), heldLog(4)]
    const watched = { ...OUR_CONTRACTS, watchOnly: { minimum: [], quotes: false } }
    const found = await decodeLogs(neverCalled, watched, logs, () => 9_000)
    expect(found).toMatchObject({ entries: [], received: [], sent: [] })
    expect(found.payments.map(({ sequence }) => sequence)).toEqual([3])
  })
})
