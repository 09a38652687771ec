import { BID_OFFSETS } from '../../registry/journal/bid.js'

/** SQL: a part of a bid's 32-byte amount as numeric: `bytes` bytes, with `after` bytes of the amount after them. */
const amountPartSql = (body: string, bytes: number, after = 0): string =>
  `('x' || encode(substring(${body} FROM ${BID_OFFSETS.name - after - bytes + 1} FOR ${bytes}), 'hex'))::bit(${8 * bytes})::int8::numeric`

/**
 * SQL: the amount in the body of a bid, wei, as numeric. Almost all amounts fit a positive int8, so they are converted
 * as one part. A larger amount is the sum of five parts, since PostgreSQL can't cast 32 bytes to a number.
 */
export const bidAmountSql = (
  body: string,
): string => `CASE WHEN substring(${body} FROM ${BID_OFFSETS.amount + 1} FOR 24) = decode(repeat('00', 24), 'hex')
    AND get_byte(${body}, ${BID_OFFSETS.amount + 24}) < 128 THEN ${amountPartSql(body, 8)}
  ELSE ${amountPartSql(body, 4, 28)} * ${2n ** 224n} + ${amountPartSql(body, 7, 21)} * ${2n ** 168n} + ${amountPartSql(body, 7, 14)} * ${2n ** 112n}
    + ${amountPartSql(body, 7, 7)} * ${2n ** 56n} + ${amountPartSql(body, 7)} END`
