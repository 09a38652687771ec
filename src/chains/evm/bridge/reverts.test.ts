import { toFunctionSelector } from 'viem'
import { expect, it } from 'vitest'
import { classifyRpcError, NodeError } from '../../rpc/errors.js'
import { contractErrorOfRevert } from './calls.js'

const PAUSED_ERROR_SELECTOR = toFunctionSelector('EnforcedPause()')

it.each<[string, unknown]>([
  ['geth, besu, reth', PAUSED_ERROR_SELECTOR],
  ['OpenEthereum, Nethermind', `Reverted ${PAUSED_ERROR_SELECTOR}`],
  ['Hardhat', { message: 'reverted', data: PAUSED_ERROR_SELECTOR }],
  [
    'a proxy that wraps it twice',
    { data: { data: `reverted ${PAUSED_ERROR_SELECTOR.toUpperCase().replace('0X', '0x')}` } },
  ],
])('the name of a revert in the form of %s', (_, data) => {
  const error = new NodeError({ code: -32_015, message: 'VM execution error.', data })
  const classified = classifyRpcError(error, 'eth_call')
  expect(classified.fault).toBe('refused')
  expect(contractErrorOfRevert(classified)).toBe('enforced_pause')
})

it.each<[string, unknown]>([
  ['nothing', undefined],
  ['no bytes', '0x'],
  ['half a selector', '0xd93c'],
  ['half a byte', `${PAUSED_ERROR_SELECTOR}0`],
  ['words', 'Reverted'],
  ['an error of somebody else', '0xdeadbeef'],
])('%s names no error', (_, data) => {
  const error = new NodeError({ code: 3, message: 'execution reverted', data })
  expect(contractErrorOfRevert(classifyRpcError(error, 'eth_call'))).toBeNull()
})
