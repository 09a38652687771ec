import bs58 from 'bs58'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decryptPageToken, encryptPageToken } from '../../src/api/feed/cursor.js'
import { parseJsonBody } from '../../src/api/http/body.js'
import { ApiError } from '../../src/api/http/errors.js'
import { parseQuery } from '../../src/api/http/query.js'
import type { Hex } from '../../src/chains/chain.js'
import { decodeClaimedLog } from '../../src/chains/evm/airdrop/distributor.js'
import {
  decodeHubCalldata,
  decodeHubMessage,
  encodeHubMessage,
} from '../../src/chains/evm/bridge/hubMessage.js'
import { decodePacket } from '../../src/chains/evm/bridge/packet.js'
import { decodeLzReceiveOption } from '../../src/chains/evm/bridge/packetOptions.js'
import {
  BID_EVENT_TOPIC,
  BID_WITH_REFERRAL_EVENT_TOPIC,
  decodeLogs,
  RECEIVED_EVENT_TOPIC,
  SENT_EVENT_TOPIC,
} from '../../src/chains/evm/decodeLogs.js'
import { RefutedAnswerError } from '../../src/chains/rpc/errors.js'
import { decodeTransaction } from '../../src/chains/solana/events.js'
import { decodePaymentLog } from '../../src/registry/community/payment.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import {
  decodeBidEffects,
  decodeChangeEffects,
  decodeCommunityEffects,
} from '../../src/registry/journal/effects.js'
import { ENTRY_KIND, type EntryKind } from '../../src/registry/journal/entry.js'
import { decodeWallet, parseWallet } from '../../src/registry/primitives/address.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { parseFullName } from '../../src/registry/primitives/name.js'

/** One that hangs runs into the time limit of its test. */
const RUNS = { numRuns: 2_000, seed: 20_261_121 }

const bytes = (maxLength = 600) => fc.uint8Array({ maxLength }).map((raw) => Buffer.from(raw))
/** Bytes of whole words, as logs and calls have them. */
const words = fc
  .tuple(fc.nat(12), bytes(32))
  .map(([count, seed]) => Buffer.alloc(count * 32, seed.length > 0 ? seed : 1))
const hex = (raw: Buffer): Hex => toHex(raw)
/** JSON that is nearly a journal body. */
const json = fc
  .dictionary(
    fc.constantFrom('wallets', 'address', 'name', 'rules', 'prices', 'actor', 'x', '__proto__'),
    fc.jsonValue(),
  )
  .map((value) => Buffer.from(JSON.stringify(value)))
const anyBytes = fc.oneof(bytes(), words, json)

/** Checks a decoder: it returns a value, or throws only its own errors. */
function holds<T>(
  given: fc.Arbitrary<T>,
  decode: (input: T) => unknown,
  ...own: (new (
    ...args: never[]
  ) => Error)[]
) {
  const property = fc.asyncProperty(given, async (input) => {
    try {
      await decode(input)
    } catch (error) {
      if (!own.some((kind) => error instanceof kind)) throw error
    }
  })
  return fc.assert(property, RUNS)
}

it('addresses and names are read from any text', async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.base64String(),
    fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{20,100}$/),
  )
  await holds(text, (input) => [parseWallet(input), parseFullName(input), parseQuery(`/?${input}`)])
})

it('stored addresses are read from any bytes', async () => {
  const typed = fc
    .tuple(fc.constantFrom(1, 2, 3, 4), anyBytes)
    .map(([type, raw]) => Buffer.concat([Buffer.of(type), raw]))
  await holds(fc.oneof(anyBytes, typed), decodeWallet, RangeError)
})

it('bodies of requests are read from any bytes', () => holds(anyBytes, parseJsonBody, ApiError))

it('page tokens are read from any text, and from one with any bytes changed', async () => {
  const key = Buffer.alloc(32, 1)
  const page = {
    network: 'mainnet',
    generation: 1,
    order: 'oldest',
    first: 5,
    skip: 0,
    floor: 1,
  } as const
  const sealed = Buffer.from(
    encryptPageToken(key, { ...page, from: null, sinceMs: null }),
    'base64url',
  )
  const changed = fc
    .tuple(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }))
    .map(([at, by]) => {
      const token = Buffer.from(sealed)
      token[at] = token[at]! ^ by
      return token.toString('base64url')
    })
  const text = fc.oneof(
    changed,
    fc.base64String(),
    fc.string(),
    bytes(120).map((raw) => raw.toString('base64url')),
  )
  await holds(text, (token) => expect(decryptPageToken(key, token)).toBeNull())
})

it('bodies of the journal are read from any bytes', async () => {
  const entry = fc.record({
    kind: fc.constantFrom(...(Object.keys(ENTRY_KIND) as EntryKind[])),
    body: anyBytes,
  })
  await holds(
    entry,
    ({ kind, body }) => decodeEntry({ kind, body, position: null, txKey: null, causeMs: 0 }),
    RangeError,
  )
  for (const decode of [decodeBidEffects, decodeChangeEffects, decodeCommunityEffects])
    await holds(
      fc
        .tuple(fc.nat(3), bytes())
        .map(([version, rest]) => Buffer.concat([Buffer.of(version), rest])),
      decode,
      RangeError,
    )
})

it('messages, calls, options and packets of the bridge are read from any bytes', async () => {
  const nearly = fc
    .tuple(fc.constantFrom('40bee835', 'fdad12fd', '497ecfc5', 'f8f468a8'), words)
    .map(([selector, rest]) => Buffer.concat([Buffer.from(selector, 'hex'), rest]))
  await holds(fc.oneof(anyBytes, nearly), decodeHubCalldata)
  const message = nearly.map((call) =>
    Buffer.from(encodeHubMessage(`0x${'01'.repeat(32)}`, hex(call)).slice(2), 'hex'),
  )
  await holds(fc.oneof(anyBytes, message), decodeHubMessage)
  await holds(anyBytes, (raw) => [decodePacket(hex(raw)), decodeLzReceiveOption(hex(raw))])
  await holds(
    bytes().map((raw) => Buffer.concat([Buffer.of(1), raw])),
    (raw) => decodePacket(hex(raw)),
  )
})

it('logs are read from any topics and data', async () => {
  const contract: Hex = `0x${'11'.repeat(20)}`
  const topic = fc.oneof(
    fc.constantFrom(
      BID_EVENT_TOPIC,
      BID_WITH_REFERRAL_EVENT_TOPIC,
      RECEIVED_EVENT_TOPIC,
      SENT_EVENT_TOPIC,
    ),
    bytes(32).map(hex),
  )
  const log = fc.record({
    address: fc.constant(contract),
    topics: fc
      .tuple(
        topic,
        fc.array(
          words.map((raw) => hex(raw.subarray(0, 32))),
          { maxLength: 3 },
        ),
      )
      .map(([first, rest]) => [first, ...rest]),
    data: fc.oneof(words, bytes(300)).map(hex),
  })
  const place = {
    blockNumber: '0x1',
    logIndex: '0x0',
    transactionHash: `0x${'ab'.repeat(32)}`,
    blockHash: `0x${'cd'.repeat(32)}`,
    removed: false,
  }
  await holds(
    fc.array(log, { maxLength: 3 }),
    (logs) => {
      const raw = logs.map((one) => ({ ...place, ...one })) as Parameters<typeof decodeLogs>[2]
      return decodeLogs(
        async () => null as never,
        { role: 'hub', chain: 1, contract },
        raw,
        () => 0,
      )
    },
    RefutedAnswerError,
  )
  await holds(log, decodeClaimedLog as never)
  await holds(fc.oneof(words, bytes(300)), decodePaymentLog, RangeError)
})

it('events of the program on Solana are read from any bytes of its own', async () => {
  const id = bs58.encode(Buffer.alloc(32, 3))
  const tag = Buffer.from('e445a52e51cb9a1d', 'hex')
  await holds(
    fc
      .tuple(fc.boolean(), bytes(200))
      .map(([isEvent, raw]) => (isEvent ? Buffer.concat([tag, raw]) : raw)),
    (raw) =>
      decodeTransaction({ id }, {
        transaction: { message: { accountKeys: [id] }, signatures: [] },
        meta: {
          err: null,
          innerInstructions: [{ instructions: [{ programIdIndex: 0, data: bs58.encode(raw) }] }],
        },
      } as never),
  )
})
