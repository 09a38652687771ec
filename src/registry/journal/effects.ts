import { BID_OUTCOME, BID_REFUSAL } from './bid.js'
import {
  asciiCodec,
  booleanCodec,
  type Codec,
  type CodecValue,
  constantCodec,
  decodeValue,
  encodeValue,
  listCodec,
  nullableCodec,
  objectCodec,
  u64,
  unionCodec,
} from './codec.js'
import { eventCodec } from './eventForms.js'

/**
 * Version of the stored form of effects. Effects are the fold's decision about an entry. They are stored with the
 * entry, so that feed and status can be computed from the row. Their form is the version as u8, then the form of the
 * codec in this file for the entry's kind. Effects are empty where the entry had no effect.
 */
const EFFECTS_VERSION = 1
export const NO_EFFECTS = Buffer.alloc(0)
/** Byte offset of the outcome in effects of a bid or of a community name registration. */
export const OUTCOME_OFFSET = 1

// codes are stored: never renumber

const PAYMENT_REFUSAL_CODE = {
  malformed_name: 1,
  not_found: 2,
  not_active: 3,
  no_price: 4,
  underpaid: 5,
  requirements_not_met: 6,
}
const reasonCodec = <T extends string>(codes: Readonly<Record<T, number>>): Codec<T> =>
  constantCodec(Object.entries(codes) as [T, number][])

const bidCodec = unionCodec('outcome', {
  won: [
    BID_OUTCOME.won,
    {
      cluster: u64,
      created: booleanCodec,
      /** Set if the bid made the bidder's private wallet public. */
      published: nullableCodec(objectCodec({ walletName: asciiCodec, isBackedUp: booleanCodec })),
    },
  ],
  lost: [BID_OUTCOME.lost, {}],
  refused: [BID_OUTCOME.refused, { reason: reasonCodec(BID_REFUSAL) }],
})

/**
 * Effects of an entry that may register a community name. `cluster` is the serial of the cluster in which the owner is
 * publicly verified, null where there is none.
 */
const communityCodec = unionCodec('outcome', {
  registered: [BID_OUTCOME.won, { cluster: nullableCodec(u64) }],
  lost: [BID_OUTCOME.lost, {}],
  refused: [BID_OUTCOME.refused, { reason: reasonCodec(PAYMENT_REFUSAL_CODE) }],
})

/** Effects of a signed change: its cluster and public events (none if only private wallets changed). */
const changeCodec = objectCodec({ cluster: u64, events: listCodec(eventCodec(u64)) })

export type BidEffects = CodecValue<typeof bidCodec>

const encoderAndDecoderOf = <Effects>(codec: Codec<Effects>) =>
  [
    (effects: Effects): Buffer => encodeValue(codec, EFFECTS_VERSION, effects),
    (stored: Buffer): Effects => decodeValue(codec, EFFECTS_VERSION, stored),
  ] as const

/** Encoders and decoders of effects. A decoder throws RangeError for bytes that its encoder does not make. */
export const [encodeBidEffects, decodeBidEffects] = encoderAndDecoderOf(bidCodec)
export const [encodeChangeEffects, decodeChangeEffects] = encoderAndDecoderOf(changeCodec)
export const [encodeCommunityEffects, decodeCommunityEffects] = encoderAndDecoderOf(communityCodec)
