/**
 * Sentences that the pages show when one of our contracts reverts, by the name of the Solidity error. The build turns
 * names into selectors (scripts/build-web.ts).
 */
export const CONTRACT_ERROR_TEXTS: Readonly<Record<string, string>> = {
  AlreadyClaimed: 'It is claimed already.',
  AmountTooLarge: 'The amount is larger than the contract takes.',
  BadPermission: 'The permission to claim is not valid: load this page again.',
  BadProof: 'The airdrop has changed: load this page again.',
  BelowMinimum: 'The amount is below the price: load this page again.',
  Ended: 'The airdrop has ended.',
  EnforcedPause: 'The contract is paused by its operator.',
  FailedCall: 'The receiver refuses the money.',
  MalformedName: 'The contract accepts no such name.',
  NotAccount: 'Another wallet has to claim this.',
  NotPayer: 'Only the wallet that paid can take this back.',
  NotReclaimable: 'The payment cannot be taken back yet.',
  NotEnoughNative: 'The bridge asks for more than was sent: load this page again.',
  NotSigned: 'The permission is not valid any more: load this page again.',
  NothingOwed: 'There is nothing left to take: it was taken already.',
  PaymentFailed: 'The receiver refuses the money.',
  PermissionExpired: 'The permission to claim has expired: load this page again.',
  SafeERC20FailedOperation: 'The token refuses the transfer.',
  TooLittleGas: 'The gas for the message is too little: load this page again.',
  WrongTransfer: 'The token moved another amount than the price.',
  WrongValue: 'The price has changed: load this page again.',
}

/** Number of levels to which an error's fields are searched. Each wallet nests the contract's error differently. */
const MAX_ERROR_DEPTH = 5
/** Matches the first four bytes of hex data. In the data of a revert they are the error's selector. */
const SELECTOR_PATTERN = /0x[0-9a-f]{8}/gi

/** The strings in a value and its fields, `depth` levels deep. The depth also bounds a value with cycles. */
function stringsIn(value: unknown, depth = MAX_ERROR_DEPTH): string[] {
  if (typeof value === 'string') return [value]
  if (depth === 0 || typeof value !== 'object' || value === null) return []
  // `message` and `cause` of an error are not enumerable
  return Object.getOwnPropertyNames(value).flatMap((field) =>
    field === 'stack' ? [] : stringsIn((value as Record<string, unknown>)[field], depth - 1),
  )
}

/**
 * Sentence for a refusal of one of our contracts, found in a wallet's or a node's error; null for any other error.
 * @param textOf sentence by selector, in lower case: `0x12345678`
 */
export function contractErrorText(
  error: unknown,
  textOf: Readonly<Record<string, string>>,
): string | null {
  const selectors = stringsIn(error).flatMap((text) => text.match(SELECTOR_PATTERN) ?? [])
  const known = selectors.find((selector) => Object.hasOwn(textOf, selector.toLowerCase()))
  return known ? textOf[known.toLowerCase()]! : null
}
