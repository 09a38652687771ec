import { encodeErrorResult, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { airdropDistributorAbi } from '../../contracts/evm/artifacts/AirdropDistributor.js'
import { communityPaymentsAbi } from '../../contracts/evm/artifacts/CommunityPayments.js'
import { hubAbi } from '../../contracts/evm/artifacts/Hub.js'
import { spokeAbi } from '../../contracts/evm/artifacts/Spoke.js'
import { CONTRACT_ERROR_TEXTS, contractErrorText } from './contractErrors.js'

const ACCOUNT = `0x${'ab'.repeat(20)}` as const
const data = encodeErrorResult({ abi: hubAbi, errorName: 'NothingOwed', args: [ACCOUNT] })
const TEXT_BY_SELECTOR = { [toFunctionSelector('NothingOwed(address)')]: 'Nothing left.' }

describe('the refusal of a contract', () => {
  it.each([
    ['EIP-1193, as MetaMask has it', { code: -32603, message: 'x', data: { code: 3, data } }],
    ['a node', { code: 3, message: 'execution reverted', data }],
    ['a message', new Error(`execution reverted: custom error ${data.slice(0, 10)}: 0000`)],
    ['a cause', new Error('failed', { cause: Object.assign(new Error('reverted'), { data }) })],
    ['ethers', { info: { error: { data: { originalError: { data } } } } }],
    ['upper case', { data: data.toUpperCase().replace('0X', '0x') }],
  ])('is found in the error of %s', (_, error) => {
    expect(contractErrorText(error, TEXT_BY_SELECTOR)).toBe('Nothing left.')
  })

  it('is null for any other error', () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    for (const error of [
      null,
      undefined,
      'no',
      new Error('Declined.'),
      { data: '0x08c379a0' },
      cycle,
    ])
      expect(contractErrorText(error, TEXT_BY_SELECTOR)).toBeNull()
  })

  it('has a sentence only for errors that a contract has', () => {
    const names = [hubAbi, spokeAbi, communityPaymentsAbi, airdropDistributorAbi].flatMap((abi) =>
      abi.flatMap((item) => (item.type === 'error' ? [item.name as string] : [])),
    )
    for (const name of Object.keys(CONTRACT_ERROR_TEXTS)) expect(names).toContain(name)
  })
})
