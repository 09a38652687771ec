/**
 * Sentences for the wallet's owner, by the name of the contracts' error. The build turns names into selectors
 * (scripts/build-web.ts).
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

/** Number of levels of an error's fields that are searched: wallets put the contract's answer at different places. */
const MAX_DEPTH = 5
/** Pattern of an error's selector: the four bytes with which a contract's answer begins. */
const SELECTOR_PATTERN = /0x[0-9a-f]{8}/gi

/** The texts in a value and its fields, down to `depth` levels. The value may have cycles. */
function textsIn(value: unknown, depth = MAX_DEPTH): string[] {
  if (typeof value === 'string') return [value]
  if (depth === 0 || typeof value !== 'object' || value === null) return []
  // `message` and `cause` of an error are not enumerable
  return Object.getOwnPropertyNames(value).flatMap((field) =>
    field === 'stack' ? [] : textsIn((value as Record<string, unknown>)[field], depth - 1),
  )
}

/**
 * Sentence for a refusal of one of our contracts, found in a wallet's or a node's error; null for any other error.
 * @param textOf sentence by selector, as `0x12345678`
 */
export function contractErrorText(
  error: unknown,
  textOf: Readonly<Record<string, string>>,
): string | null {
  const selectors = textsIn(error).flatMap((text) => text.match(SELECTOR_PATTERN) ?? [])
  const known = selectors.find((selector) => Object.hasOwn(textOf, selector.toLowerCase()))
  return known ? textOf[known.toLowerCase()]! : null
}
