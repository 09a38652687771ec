import { readFileSync } from 'node:fs'
import { encodeAbiParameters, hashStruct, hashTypedData, keccak256, toHex as textHash } from 'viem'
import { expect, it } from 'vitest'
import { claimPermissionTypedData } from './permission.js'

const source = readFileSync(
  new URL('../../../contracts/evm/src/AirdropDistributor.sol', import.meta.url),
  'utf8',
)
const [type] = /ClaimPermission\([^)]*\)/.exec(source)!

const typed = claimPermissionTypedData({
  chainId: 8453,
  distributor: `0x${'dd'.repeat(20)}`,
  index: 7n,
  account: Buffer.alloc(32, 3),
  to: `0x${'aa'.repeat(20)}`,
  deadlineS: 1_800_000_000n,
})

it('a permission has the same hash as in the distributor', () => {
  const words = [
    { type: 'bytes32' },
    { type: 'uint256' },
    { type: 'bytes32' },
    { type: 'address' },
    { type: 'uint256' },
  ]
  const account = `0x${'03'.repeat(32)}`
  const values = [keccak256(textHash(type)), 7n, account, `0x${'aa'.repeat(20)}`, 1_800_000_000n]
  const { primaryType, types, message } = typed
  expect(hashStruct({ data: message, primaryType, types })).toBe(
    keccak256(encodeAbiParameters(words, values)),
  )
})

it('a permission is valid for one distributor on one chain', () => {
  expect(typed.domain).toEqual({
    name: 'AirdropDistributor',
    version: '1',
    chainId: 8453,
    verifyingContract: `0x${'dd'.repeat(20)}`,
  })
  expect(hashTypedData(typed)).not.toBe(
    hashTypedData({ ...typed, domain: { ...typed.domain, chainId: 1 } }),
  )
})
