/** One deliberate mistake in a contract: `from` is replaced by `to`. */
export interface Mutant {
  readonly contract: 'Hub' | 'CommunityPayments'
  /** Text that occurs once in the contract's source. */
  readonly from: string
  readonly to: string
  /** Revert reason of the invariant that has to fail. */
  readonly breaks: string
}

const COVERED = 'balance < owed'
const COVERED_DURING = 'balance < owed during a call'
const RECORD = 'recordHash is not the fold of the logs'

/** For each invariant, changes of the contract that break it. */
export const MUTANTS: readonly Mutant[] = [
  {
    contract: 'Hub',
    from: 'uint256 amount = kept();',
    to: 'uint256 amount = address(this).balance;',
    breaks: COVERED,
  },
  {
    contract: 'Hub',
    from: '_debit(HERE, from, to, amount);\n        _pay(to, amount);',
    to: 'owed += amount; _debit(HERE, from, to, amount); _pay(to, amount); owed -= amount;',
    breaks: COVERED_DURING,
  },
  {
    contract: 'Hub',
    from: 'if (!_place(from, msg.value, name, referral)) _credit(HERE, from, msg.value);',
    to: '_place(from, msg.value, name, referral);',
    breaks: 'kept is not what winning bids paid',
  },
  {
    contract: 'Hub',
    from: 'owed += amount;',
    to: '',
    breaks: 'owed is not the sum of the credits',
  },
  {
    contract: 'Hub',
    from: 'refundOf[eid][from] += amount;',
    to: 'refundOf[eid][from] = amount;',
    breaks: 'a credit is not what the logs give',
  },
  {
    contract: 'Hub',
    from: 'if (hasWon) ownerOf[name] = from;',
    to: 'if (hasWon || amount % 16 == 1) ownerOf[name] = from;',
    breaks: "a name is not its first bidder's",
  },
  {
    contract: 'Hub',
    from: '_delivered[source][index] = bits | bit;',
    to: '',
    breaks: 'a message or delivery was taken twice',
  },
  {
    contract: 'Hub',
    from: 'if (won == 0) continue;',
    to: 'if (won == 0) continue; recordHash = keccak256(abi.encode(recordHash));',
    breaks: RECORD,
  },
  {
    contract: 'Hub',
    from: 'abi.encode(recordHash, block.timestamp, RefundWithdrawn.selector, from, eid, to, amount)',
    to: 'abi.encode(recordHash, RefundWithdrawn.selector, from, eid, to, amount)',
    breaks: RECORD,
  },
  {
    contract: 'CommunityPayments',
    from: 'creditOf[account][token] = 0;',
    to: '',
    breaks: 'a credit is not what the logs give',
  },
  {
    contract: 'CommunityPayments',
    from: 'totalsOf[token].owed -= uint192(credit);\n        uint256 moved = _push(token, to, credit);',
    to: 'uint256 moved = _push(token, to, credit);\n        totalsOf[token].owed -= uint192(credit);',
    breaks: COVERED_DURING,
  },
  {
    contract: 'CommunityPayments',
    from: 'if (moved != amount) revert WrongTransfer(moved, amount);',
    to: '',
    breaks: COVERED,
  },
  {
    contract: 'CommunityPayments',
    from: 'totalsOf[token].owed += uint192(credit - moved);',
    to: '',
    breaks: "a token's books are not what the logs give",
  },
  {
    contract: 'CommunityPayments',
    from: 'creditOf[side][payment.token] += payment.amount;',
    to: 'creditOf[payment.payer][payment.token] += payment.amount;',
    breaks: 'a credit is not what the logs give',
  },
  {
    contract: 'CommunityPayments',
    from: 'if (outcomeOf[id] != Outcome.Held) return false;',
    to: 'if (outcomeOf[id] == Outcome.None) return false;',
    breaks: 'a payment ended twice, or was never made',
  },
  {
    contract: 'CommunityPayments',
    from: 'if (_end(id, Outcome.Reclaimed, payment, payment.payer)) {',
    to: 'if (_end(id, Outcome.Refused, payment, payment.payer)) {',
    breaks: 'an outcome is not what the logs give',
  },
  {
    contract: 'CommunityPayments',
    from: '_record(Released.selector, ids[i]);',
    to: '',
    breaks: RECORD,
  },
]
