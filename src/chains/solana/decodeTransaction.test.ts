import { randomBytes } from 'node:crypto'
import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PaidQuote } from '../../registry/payment/quote.js'
import { decodeTransaction, type RawTransaction } from './decodeTransaction.js'
import { createRegistrar } from './registrar.js'

const PROGRAM = Keypair.generate().publicKey.toBase58()
const OTHER = Keypair.generate().publicKey.toBase58()
const SYSTEM = '11111111111111111111111111111111'
const registrar = createRegistrar(PROGRAM)

/** First 8 bytes of sha256("event:<name>"), as in the contract's source. */
const DISCRIMINATOR = {
  paid: [17, 19, 37, 119, 246, 83, 53, 207],
  settled: [158, 182, 152, 76, 105, 23, 232, 135],
  refunded: [197, 178, 204, 105, 247, 64, 159, 4],
}

const NOTHING = { payments: [], closed: [], communityPayments: [], communityOutcomes: [] }

const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value))
  return bytes
}

const payment = (sequence: bigint, changes: Partial<PaidQuote> = {}): PaidQuote => ({
  sequence,
  payer: Buffer.from(Keypair.generate().publicKey.toBytes()),
  quoteId: randomBytes(32),
  name: randomBytes(32),
  amountWei: 2n ** 127n + 5n,
  lamports: 123_456_789n,
  expiresAt: 1_800_000_000n,
  referral: randomBytes(32),
  ...changes,
})

/** Borsh by hand: fields in order, little-endian. */
const paidBytes = (p: PaidQuote): Buffer =>
  Buffer.concat([
    Buffer.from(DISCRIMINATOR.paid),
    u64(p.sequence),
    ...[p.payer, p.quoteId, p.name],
    u64(p.amountWei),
    u64(p.amountWei >> 64n),
    u64(p.lamports),
    u64(p.expiresAt),
    p.referral,
  ])
const closedBytes = (kind: 'settled' | 'refunded', sequence: bigint): Buffer =>
  Buffer.concat([
    Buffer.from(DISCRIMINATOR[kind]),
    u64(sequence),
    randomBytes(32),
    ...(kind === 'refunded' ? [randomBytes(32), u64(9n)] : []),
  ])
const log = (bytes: Uint8Array): string => `Program data: ${Buffer.from(bytes).toString('base64')}`
const run = (program: string, depth: number, lines: string[]): string[] => [
  `Program ${program} invoke [${depth}]`,
  ...lines,
  `Program ${program} consumed 999 of 200000 compute units`,
  `Program ${program} success`,
]
const paying = (p: PaidQuote, depth = 1): string[] =>
  run(PROGRAM, depth, [...run(SYSTEM, depth + 1, []), log(paidBytes(p))])

interface Parts {
  logs: string[]
  outer?: [program: string, payments: PaidQuote | null][]
  inner?: { index: number; payments: PaidQuote[] }[]
  err?: unknown
}

/** A transaction with these logs and instructions; each instruction's first account is its payer. */
function transaction({ logs, outer = [], inner = [], err = null }: Parts): RawTransaction {
  const payers = [...outer.map(([, p]) => p), ...inner.flatMap(({ payments }) => payments)].flatMap((p) =>
    p ? [bs58.encode(p.payer)] : [],
  )
  // the registrar itself comes from a look-up table, as in versioned transactions
  const accountKeys = [OTHER, SYSTEM, ...payers]
  const keys = [...accountKeys, PROGRAM]
  const instruction = (program: string, p: PaidQuote | null) => ({
    programIdIndex: keys.indexOf(program),
    accounts: p ? [keys.indexOf(bs58.encode(p.payer))] : [],
    data: p ? bs58.encode(registrar.register(p, p.quoteId).data) : bs58.encode(randomBytes(40)),
  })
  return {
    slot: 5,
    blockTime: 1_795_000_000,
    transaction: {
      signatures: [],
      message: { accountKeys, instructions: outer.map(([program, p]) => instruction(program, p)) },
    },
    meta: {
      err,
      logMessages: logs,
      innerInstructions: inner.map(({ index, payments }) => ({
        index,
        instructions: payments.map((p) => instruction(PROGRAM, p)),
      })),
      loadedAddresses: { writable: [], readonly: [PROGRAM] },
    },
  }
}

const read = (parts: Parts) => decodeTransaction(registrar, transaction(parts))

describe('a transaction at the registrar', () => {
  it('shows every field of a payment, whatever its numbers', () => {
    const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const any = fc.record({
      sequence: fc.bigInt(1n, 2n ** 64n - 1n),
      ...{ payer: bytes32, quoteId: bytes32, name: bytes32, referral: bytes32 },
      amountWei: fc.bigInt(0n, 2n ** 128n - 1n),
      lamports: fc.bigInt(0n, 2n ** 64n - 1n),
      expiresAt: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    })
    fc.assert(
      fc.property(any, (p) => {
        const { payments, closed, anomalies } = read({ logs: paying(p), outer: [[PROGRAM, p]] })
        expect({ closed, anomalies }).toEqual({ closed: [], anomalies: [] })
        expect(payments).toHaveLength(1)
        for (const field of Object.keys(p) as (keyof PaidQuote)[]) {
          const seen = payments[0]![field]
          expect(seen instanceof Uint8Array ? [...seen] : seen).toEqual(
            p[field] instanceof Uint8Array ? [...(p[field] as Uint8Array)] : p[field],
          )
        }
      }),
    )
  })

  it('may pay several times, also through another program, settle and refund', () => {
    const [a, b, c] = [payment(7n), payment(8n), payment(9n)]
    const logs = [
      ...paying(a),
      ...run(OTHER, 1, [
        'Program log: begin',
        ...paying(b, 2),
        ...run(OTHER, 2, paying(c, 3)),
        ...run(PROGRAM, 2, [log(closedBytes('settled', 3n)), log(closedBytes('refunded', 4n))]),
      ]),
    ]
    const outer: Parts['outer'] = [
      [PROGRAM, a],
      [OTHER, null],
    ]
    expect(read({ logs, outer, inner: [{ index: 1, payments: [b, c] }] })).toMatchObject({
      payments: [a, b, c].map(({ sequence, quoteId }) => ({ sequence, quoteId })),
      closed: [{ sequence: 3n }, { sequence: 4n }],
      anomalies: [],
    })
  })

  it('that failed, or has no meta yet, did nothing', () => {
    const p = payment(1n)
    const nothing = { ...NOTHING, anomalies: [] }
    expect(read({ logs: paying(p), outer: [[PROGRAM, p]], err: { InstructionError: [0, 'Custom'] } })).toEqual(nothing)
    expect(decodeTransaction(registrar, { ...transaction({ logs: paying(p) }), meta: null })).toEqual(nothing)
  })
})

describe('an event with our discriminator', () => {
  const event = log(paidBytes(payment(1n)))
  const foreign = [`foreign: ${event.slice(14)}`.slice(0, 120)]
  const ours = `Program ${PROGRAM}`
  it.each<[string, string[], string[]?]>([
    ['of another program', run(OTHER, 1, [event])],
    ['of another program that we called', run(PROGRAM, 1, run(OTHER, 2, [event]))],
    ['of another program that called us before', run(OTHER, 1, [...run(PROGRAM, 2, []), event])],
    ['after a program that failed inside ours', run(OTHER, 1, [`${ours} invoke [2]`, `${ours} failed: x`, event])],
    ['of a program that writes our lines into its log', run(OTHER, 1, [`Program log: ${ours} invoke [2]`, event])],
    ['of a program that writes them with a line break', run(OTHER, 1, [`Program log: x\n${ours} invoke [2]`, event])],
    ['outside of any program', [event]],
    ['behind a log that was cut', [...run(OTHER, 1, ['Log truncated', `${ours} invoke [2]`, event])], []],
  ])('%s says nothing', (_, logs, anomalies = foreign) => {
    expect(read({ logs })).toEqual({ ...NOTHING, anomalies })
  })

  it('that is truncated, oversized or no base64 is reported, and nothing else is lost', () => {
    const p = payment(2n)
    const bytes = paidBytes(payment(1n))
    const anomalies = [
      log(bytes.subarray(0, 175)),
      log(bytes.subarray(0, 8)),
      log(Buffer.concat([bytes, Buffer.of(0)])),
      log(randomBytes(20_000)),
      `${event} ${event}`,
      'Program data: ',
      'Program data: ***',
    ]
    const facts = read({ logs: [...run(PROGRAM, 1, anomalies), ...paying(p)], outer: [[PROGRAM, p]] })
    expect(facts.payments).toMatchObject([{ sequence: 2n }])
    expect(facts.anomalies).toHaveLength(anomalies.length)
    expect(facts.anomalies.every((line) => line.length <= 120)).toBe(true)
  })

  it('or any other line never throws, and never makes a payment of what is not ours', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom(...run(OTHER, 1, []), ...run(OTHER, 2, []), event, 'Log truncated', 'Program log: x'),
      fc.uint8Array().map(log),
    )
    fc.assert(
      fc.property(fc.array(line), (logs) => {
        expect(read({ logs }).payments).toEqual([])
      }),
    )
  })
})

describe('a log that was cut', () => {
  const payments = [payment(11n), payment(12n), payment(13n)]
  const outer = payments.map((p): [string, PaidQuote] => [PROGRAM, p])

  it('is filled from the instructions by the sequence, outer and inner', () => {
    const [a, b, c] = payments as [PaidQuote, PaidQuote, PaidQuote]
    const expected = payments.map(({ sequence, payer, name, lamports }) => ({ sequence, payer, name, lamports }))
    expect(read({ logs: [...paying(a), 'Log truncated'], outer }).payments).toMatchObject(expected)
    const inner = [{ index: 0, payments: [b, c] }]
    const logs = [...run(OTHER, 1, [...paying(a, 2), 'Log truncated'])]
    const nested: Parts['outer'] = [[OTHER, null]]
    expect(
      read({ logs, outer: nested, inner: [{ index: 0, payments: [a, ...inner[0]!.payments] }] }).payments,
    ).toMatchObject(expected)
  })

  it('leaves the sequence open where no event is left', () => {
    const facts = read({ logs: ['Log truncated'], outer })
    expect(facts.payments.map(({ sequence }) => sequence)).toEqual([null, null, null])
    expect(facts.payments[2]).toMatchObject({ quoteId: payments[2]!.quoteId, amountWei: payments[2]!.amountWei })
  })

  it('is not filled from instructions of other programs, of other forms, or without their accounts', () => {
    const tx = transaction({ logs: ['Log truncated'], outer: [...outer, [OTHER, payments[0]!]] })
    const { message } = tx.transaction
    message.instructions[0]!.data = bs58.encode(
      Buffer.concat([bs58.decode(message.instructions[0]!.data), Buffer.of(0)]),
    )
    message.instructions[1]!.data = '1'.repeat(100_000)
    message.instructions[2]!.accounts = []
    expect(decodeTransaction(registrar, tx).payments).toEqual([])
  })
})
