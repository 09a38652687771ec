import { toEventSelector, toFunctionSelector } from 'viem'
import { expect, test } from 'vitest'
import { hubAbi, hubBytecode } from '../../src/chains/evm/contracts/index.js'

/** EIP-170's limit on deployed code. Creation code is a little longer, so comparing it is on the safe side. */
const MAX_CODE_BYTES = 24_576

test('the hub has the selectors and topics that existing clients use', () => {
  const functions = hubAbi.filter((item) => item.type === 'function')
  const selectors = functions
    .filter(({ name }) => name.startsWith('placeBid'))
    .map((item) => toFunctionSelector(item))
  expect(selectors.sort()).toEqual(['0x40bee835', '0x497ecfc5', '0xf8f468a8', '0xfdad12fd'])

  const bids = hubAbi.filter((item) => item.type === 'event' && item.name === 'Bid')
  expect(
    bids.map((item) => item.inputs.some((input) => 'indexed' in input && input.indexed)),
  ).toEqual([false, false])
  const topics = bids.map((item) => item.type === 'event' && toEventSelector(item))
  expect(topics.map((topic) => `${topic}`.replace(/^(.{10}).*(.{6})$/, '$1…$2')).sort()).toEqual([
    '0xd41a8eb2…7ed57f',
    '0xfab4f0f6…93ec68',
  ])
})

test('the hub’s code is within the size limit', () => {
  expect((hubBytecode.length - 2) / 2).toBeLessThan(MAX_CODE_BYTES)
})
