import { describe, expect, it } from 'vitest'
import { agreed, type NodeView } from './jobView.js'

const mined = { hash: '0xaa', block: 7, succeeded: true, isConfirmed: true, feeWei: 1n } as const
const look = (change: Partial<NodeView> = {}): NodeView => ({
  head: 10,
  confirmedHead: 8,
  done: 'confirmed',
  nonce: 'confirmed',
  mined,
  ...change,
})

describe('two nodes', () => {
  it('confirm each other', () => {
    expect(agreed([look(), look()], false)).toMatchObject({
      done: 'confirmed',
      mined,
      isSure: true,
    })
  })

  it.each([
    ['done', look({ done: 'no' }), { done: 'no' }],
    ['done, only later', look({ done: 'unconfirmed' }), { done: 'unconfirmed' }],
    ['the block', look({ mined: null }), { mined: { isConfirmed: false } }],
    [
      'the block, only later',
      look({ mined: { ...mined, isConfirmed: false } }),
      { mined: { isConfirmed: false } },
    ],
    ['success', look({ mined: { ...mined, succeeded: false } }), { mined: { isConfirmed: false } }],
  ])('one of which contradicts about %s', (_, second, expected) => {
    expect(agreed([look(), second], false)).toMatchObject({ ...expected, isSure: true })
    expect(agreed([second, look()], false)).toMatchObject(expected)
  })

  it('of which one does not have the block yet are one', () => {
    expect(agreed([look(), look({ head: 7, done: 'no' })], false)).toMatchObject({
      done: 'confirmed',
      isSure: false,
    })
  })
})

it('one node’s word is enough for a local chain', () => {
  expect(agreed([look()], true)).toMatchObject({ done: 'confirmed', isSure: true })
  expect(agreed([look()], false)).toMatchObject({ done: 'confirmed', isSure: false })
})
