import { encodeFunctionData, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { newJob } from '../../test/support/newJob.js'
import { deliveryValueWei } from '../chains/evm/bridge/calls.js'
import { encodeHubMessage } from '../chains/evm/bridge/hubMessage.js'
import {
  decodePacket,
  encodePacket,
  type PacketPath,
  packetGuid,
} from '../chains/evm/bridge/packet.js'
import { encodeLzReceiveOption } from '../chains/evm/bridge/packetOptions.js'
import { hubAbi } from '../chains/evm/contracts/index.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { JobKind } from '../registry/outbox.js'
import type {
  CommunityNameTarget,
  HubNameTarget,
  StoredPayment,
} from '../registry/payment/payment.js'
import { addressToWord } from '../registry/primitives/address.js'
import { fromHex } from '../registry/primitives/bytes.js'
import { decideMessageExecution, isDeliveryVoid, jobCallOf } from './calls.js'
import type { DeliveryPath } from './targets.js'

const HUB: Hex = `0x${'aa'.repeat(20)}`
const SPOKE: Hex = `0x${'bb'.repeat(20)}`
const ENDPOINT: Hex = `0x${'ee'.repeat(20)}`
const LIBRARY: Hex = `0x${'dd'.repeat(20)}`
const PAYMENTS: Hex = `0x${'cc'.repeat(20)}`
const path: DeliveryPath = {
  lane: {
    hub: { eid: 30_101, contract: HUB, isLocal: true },
    spokes: [{ chain: 2, eid: 30_184, contract: SPOKE }],
  },
  endpoint: ENDPOINT,
  messageLib: LIBRARY,
}

const SUBJECT = Buffer.alloc(32, 1)
const jobOf = (kind: JobKind, change: Partial<JobRow> = {}): JobRow => ({
  ...newJob('7', kind),
  network: 'mainnet',
  chain: 1,
  signer: null,
  subject: SUBJECT,
  createdMs: 0,
  updatedMs: 0,
  version: 1,
  message: null,
  payment: null,
  batch: null,
  others: [],
  ...change,
})

const word = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`
const way = { nonce: 1n, srcEid: 30_184, sender: word(SPOKE), dstEid: 30_101, receiver: word(HUB) }
const packet = encodePacket({
  ...way,
  guid: packetGuid(way),
  message: encodeHubMessage(word(SPOKE), '0x12345678'),
})
const message = (options: Hex, chain = 2): JobRow['message'] => ({
  guid: SUBJECT,
  chain,
  txHash: SUBJECT,
  sentMs: 0,
  packet: fromHex(packet),
  options: fromHex(options),
})
const paid = message(encodeLzReceiveOption({ gas: 200_000n, value: 5n }))

const PAYER = Buffer.of(2, ...Buffer.alloc(32, 3))
const NAME = Buffer.alloc(32, 4)
const SOURCE = Buffer.alloc(32, 5)
const forName: StoredPayment<HubNameTarget> = {
  id: SUBJECT,
  tx: Buffer.alloc(64),
  block: 9,
  blockHash: null,
  sequence: 1,
  payer: PAYER,
  chain: 3,
  money: { token: 'native', amount: 5n },
  referral: null,
  paidMs: 0,
  state: 'confirmed',
  outcome: null,
  target: {
    kind: 'name',
    name: NAME,
    source: SOURCE,
    quoteId: SUBJECT,
    amountWei: 8n,
    expiresAt: 1,
    verdict: 'honoured',
    reclaimableMs: 1_000,
  },
}
const target: CommunityNameTarget = {
  kind: 'communityName',
  community: NAME,
  name: NAME,
  recipient: HUB,
  number: 5n,
  reclaimableMs: 77_000,
}
const forCommunity: StoredPayment<CommunityNameTarget> = { ...forName, target }

describe('the call of a message’s job', () => {
  it('hands its packet to the endpoint, with the gas and value of its options', () => {
    const decoded = decodePacket(packet)!
    expect(deliveryValueWei(decoded)).toBeNull()
    const option = { gas: 200_000n, value: 5n }
    expect(jobCallOf(jobOf('execute', { message: paid }), path, undefined)).toEqual({
      kind: 'execute',
      endpoint: ENDPOINT,
      packet: decoded,
      option,
    })
    expect(jobCallOf(jobOf('verify', { message: paid }), path, undefined)).toEqual({
      kind: 'verify',
      endpoint: ENDPOINT,
      messageLib: LIBRARY,
      packet: decoded,
    })
  })

  it.each<[string, Partial<JobRow>, DeliveryPath | null]>([
    ['message is unknown', {}, path],
    ['packet is of another chain', { message: message('0x', 3) }, path],
    ['chain gets no messages', { message: paid }, null],
    ['hub has no endpoint', { message: paid }, { ...path, endpoint: null }],
  ])('is refused where its %s', (_, change, way) => {
    for (const kind of ['verify', 'execute'] as const)
      expect(jobCallOf(jobOf(kind, change), way, PAYMENTS)).toBe('foreign_packet')
  })
})

describe('the call of a payment’s delivery', () => {
  const callFor = (payment: JobRow['payment']) =>
    jobCallOf(jobOf('deliver', { payment }), path, undefined, 900)

  it('bids on the hub for the payer, with the payment’s id', () => {
    const bid = {
      source: SOURCE,
      sequence: 1n,
      from: addressToWord(PAYER),
      amountWei: 8n,
      name: NAME,
    }
    expect(callFor(forName)).toEqual({
      kind: 'deliver',
      hub: HUB,
      bids: [{ ...bid, referral: Buffer.alloc(32) }],
    })
    const referral = Buffer.alloc(32, 6)
    expect(callFor({ ...forName, referral })).toMatchObject({ bids: [{ referral }] })
    expect(callFor({ ...forName, state: 'done' })).toMatchObject({ kind: 'deliver' })
  })

  it('bids for all jobs of its transaction, or for none; once signed it bids for those that remain', () => {
    const signed = { nonce: 4, state: 'signed' } as const
    const second = { ...forName, sequence: 2 }
    const others = [second, forCommunity].map((payment) => jobOf('deliver', { payment }))
    const row = jobOf('deliver', { payment: forName, others })
    expect(jobCallOf({ ...row, others: others.slice(0, 1) }, path, undefined, 900)).toMatchObject({
      bids: [{ sequence: 1n }, { sequence: 2n }],
    })
    expect(jobCallOf(row, path, undefined, 900)).toBe('foreign_payment')
    expect(jobCallOf({ ...row, ...signed }, path, undefined)).toMatchObject({
      bids: [{ sequence: 1n }, { sequence: 2n }],
    })
    const gone = jobOf('deliver', { payment: null, ...signed })
    expect(jobCallOf(gone, path, undefined, 900)).toBe('foreign_payment')
  })

  it.each<[string, JobRow['payment']]>([
    ['none', null],
    ['one that is unconfirmed', { ...forName, state: 'seen' }],
    [
      'one under no quote of ours',
      { ...forName, target: { ...forName.target, verdict: 'foreign' } },
    ],
    ['one for a community name', forCommunity],
  ])('is refused for %s', (_, payment) => {
    expect(callFor(payment)).toBe('foreign_payment')
  })

  it('does not bid for payers who were refunded or soon may reclaim; a sent delivery continues', () => {
    const call = (
      nowMs: number,
      change: Partial<JobRow> = {},
      outcome: StoredPayment['outcome'] = null,
    ) =>
      jobCallOf(
        jobOf('deliver', { payment: { ...forName, outcome }, ...change }),
        path,
        undefined,
        nowMs,
      )
    expect(call(900)).toMatchObject({ kind: 'deliver' })
    expect(call(901)).toBe('reclaimed')
    for (const outcome of ['refused', 'reclaimed'] as const) {
      expect(call(0, {}, outcome)).toBe('reclaimed')
      expect(call(901, { state: 'sent' }, outcome)).toMatchObject({ kind: 'deliver' })
    }
    expect(call(0, {}, 'released')).toMatchObject({ kind: 'deliver' })
  })

  it('is no longer wanted once all of its unmined payments are reclaimed, or soon may be', () => {
    const back = { ...forName, outcome: 'reclaimed' } as const
    const refused = { ...forName, outcome: 'refused' } as const
    const second = { ...forName, sequence: 2 }
    const with2 = (payment: JobRow['payment']) => [jobOf('deliver', { payment })]
    const signed = { state: 'signed', nonce: 4, payment: back } as const
    expect(isDeliveryVoid(jobOf('deliver', signed), 0)).toBe(true)
    expect(isDeliveryVoid(jobOf('deliver', { ...signed, payment: refused }), 0)).toBe(true)
    expect(
      isDeliveryVoid(jobOf('deliver', { ...signed, state: 'sent', payment: forName }), 901),
    ).toBe(true)
    expect(isDeliveryVoid(jobOf('deliver', { ...signed, payment: forName }), 900)).toBe(false)
    expect(isDeliveryVoid(jobOf('deliver', { ...signed, others: with2(second) }), 0)).toBe(false)
    expect(isDeliveryVoid(jobOf('deliver', { ...signed, others: with2(back) }), 0)).toBe(true)
    for (const state of ['queued', 'included'] as const)
      expect(isDeliveryVoid(jobOf('deliver', { ...signed, state }), 0)).toBe(false)
    expect(isDeliveryVoid(jobOf('refuse', signed), 0)).toBe(false)
  })
})

describe('the call of a refusal', () => {
  const job = (change: Partial<JobRow>) => jobOf('refuse', change)

  it('goes to the contract that holds the payment, on any chain', () => {
    for (const way of [path, null])
      expect(jobCallOf(job({ payment: forCommunity }), way, PAYMENTS)).toEqual({
        kind: 'refuse',
        payments: PAYMENTS,
        of: [{ paymentId: SUBJECT, payment: forCommunity }],
      })
  })

  it('uses only the id where a rewind has removed the payment', () => {
    for (const payment of [null, forName])
      expect(jobCallOf(job({ payment }), path, PAYMENTS)).toEqual({
        kind: 'refuse',
        payments: PAYMENTS,
        of: [{ paymentId: SUBJECT, payment: null }],
      })
  })

  it('has no call without a contract', () => {
    expect(jobCallOf(job({ payment: forCommunity }), path, undefined)).toBe('no_payments_contract')
  })
})

const NAME_WORD: Hex = `0x${'61'.padEnd(64, '0')}`
const bids = encodeFunctionData({
  abi: hubAbi,
  functionName: 'placeBids',
  args: [
    [3n, 4n],
    [NAME_WORD, NAME_WORD],
  ],
})
const withdrawal = encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args: [HUB] })

const decisionOf = (
  {
    calldata = bids,
    value = 7n,
    gas = 200_000n,
    options,
    chain = 2,
    ...changes
  }: Partial<PacketPath> & {
    calldata?: Hex
    value?: bigint
    gas?: bigint
    options?: Hex
    chain?: number
  } = {},
  isLocal = true,
) => {
  const at = { ...way, ...changes }
  const packet = encodePacket({
    ...at,
    guid: packetGuid(at),
    message: encodeHubMessage(word(SPOKE), calldata),
  })
  const decision = decideMessageExecution(
    {
      chain,
      packet: fromHex(packet),
      options: fromHex(options ?? encodeLzReceiveOption({ gas, value })),
    },
    { ...path.lane, hub: { ...path.lane.hub, isLocal } },
  )
  return 'refusal' in decision ? decision.refusal : decision.option
}

describe('the decision about a message', () => {
  it('is to deliver it with the value and gas of its options where it asks for that value', () => {
    expect(decisionOf()).toEqual({ gas: 200_000n, value: 7n })
    expect(decisionOf({ calldata: withdrawal, value: 0n })).toEqual({ gas: 200_000n, value: 0n })
  })

  it.each([6n, 8n, 0n])('with bids of 7 wei is not to deliver it with %s', (value) => {
    expect(decisionOf({ value })).toBe('value_mismatch')
    expect(decisionOf({ value }, false)).toBe('value_mismatch')
  })

  it('about a withdrawal is to deliver it with value 0', () => {
    expect(decisionOf({ calldata: withdrawal, value: 1n })).toBe('value_mismatch')
  })

  it('about a message that the hub will refuse is to deliver it with its value, only on a local network', () => {
    expect(decisionOf({ calldata: '0x12345678', value: 5n })).toEqual({ gas: 200_000n, value: 5n })
    expect(decisionOf({ calldata: '0x12345678', value: 5n }, false)).toBe('value_mismatch')
    expect(decisionOf({ calldata: '0x12345678', value: 0n }, false)).toEqual({
      gas: 200_000n,
      value: 0n,
    })
  })

  it.each([
    ['another sender', { sender: word(HUB) }],
    ['another chain', { srcEid: 30_110 }],
    ['another spoke than it was read from', { chain: 3 }],
    ['another receiver', { receiver: word(SPOKE) }],
    ['another destination', { dstEid: 30_102 }],
  ])('of %s is foreign', (_, changes) => {
    expect(decisionOf(changes)).toBe('foreign_packet')
  })

  it.each<[string, Hex]>([
    ['none', '0x'],
    ['no gas', encodeLzReceiveOption({ gas: 0n, value: 7n })],
    ['a native drop', `0x000301003102${'00'.repeat(48)}`],
    [
      'two options',
      `${encodeLzReceiveOption({ gas: 1n, value: 7n })}${encodeLzReceiveOption({ gas: 1n, value: 7n }).slice(6)}`,
    ],
  ])('with bad options (%s) is not delivered', (_, options) => {
    expect(decisionOf({ options })).toBe('bad_options')
  })
})
