import { expect, it } from 'vitest'
import { type DecodedLogs, mergeDecodedLogs } from '../../chains/evm/decodeLogs.js'
import { assertLogsMoveNoMoney } from './undecided.js'

/** Decoded logs with one item of this kind. */
const logsWith = (kind: keyof DecodedLogs): DecodedLogs =>
  Object.assign(mergeDecodedLogs([]), { [kind]: [{}] })

it.each([
  ['a message that arrived on the hub', 'received'],
  ['a message to deliver', 'sent'],
  ['a payment to settle', 'payments'],
  ['the end of a payment', 'ends'],
  ['money that the hub owes', 'credits'],
] as const)('%s waits for a second node', (_, kind) => {
  expect(() => assertLogsMoveNoMoney(logsWith(kind))).toThrow(
    expect.objectContaining({
      name: 'NodesSilentError',
      message: expect.stringContaining('wait for a second node'),
    }),
  )
})

it('a bid on the hub does not', () => {
  expect(() => assertLogsMoveNoMoney(logsWith('entries'))).not.toThrow()
})
