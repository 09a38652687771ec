import { describe, expect, it } from 'vitest'
import { bigIntToWord } from '../primitives/bytes.js'
import { nameToWord } from '../primitives/name.js'
import { type ClusterChange, encodeChange } from './change.js'
import { decodeEntry } from './decode.js'
import type { Entry, EntryKind } from './entry.js'
import { encodePayment } from './payment.js'

const wallet = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
const entryOf = (kind: EntryKind, body: Buffer): Entry => ({
  kind,
  body,
  position: { chain: 1, block: 2, logIndex: 3 },
  txKey: 4n,
  causeMs: 5,
})
const contentOf = (kind: EntryKind, body: Buffer) => decodeEntry(entryOf(kind, body)).content

describe('an entry', () => {
  it('is decoded by its kind', () => {
    const bid = Buffer.concat([Buffer.alloc(64), bigIntToWord(7n), nameToWord('foo')])
    expect(contentOf('bid', bid)).toMatchObject({ kind: 'bid', amountWei: 7n, name: 'foo' })
    expect(contentOf('minimum', bigIntToWord(9n))).toEqual({ kind: 'minimum', minimumWei: 9n })
    const change: ClusterChange = { kind: 'confirm_backup', actor: wallet, address: wallet }
    expect(contentOf('confirm_backup', encodeChange(change))).toEqual(change)
    const payment = {
      tx: Buffer.alloc(32, 1),
      network: '1',
      payer: wallet,
      token: 'native',
      amount: 5n,
      recipient: '0x',
      community: nameToWord('foo'),
      name: nameToWord('a'),
      referral: null,
      blockMs: 1_000,
      met: null,
    }
    expect(contentOf('pay_community_name', encodePayment(payment))).toEqual({
      kind: 'pay_community_name',
      payment,
      community: 'foo',
      name: 'a',
    })
  })

  it.each([0, 31, 33, 64])('with a minimum of %d bytes throws', (length) => {
    expect(() => contentOf('minimum', Buffer.alloc(length))).toThrow(
      `a minimum is one word, not ${length} bytes`,
    )
  })
})
