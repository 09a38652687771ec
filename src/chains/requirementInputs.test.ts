import { expect, it } from 'vitest'
import { areRequirementsMet } from '../registry/community/requirements.js'
import { parseAddress } from '../registry/primitives/address.js'
import { ChainUnavailableError } from './chain.js'
import { readRequirementInputs } from './requirementInputs.js'

const TOKEN = `0x${'ab'.repeat(20)}`
const MINT = 'Stake11111111111111111111111111111111111111'
const bytesOf = (text: string): Buffer => {
  const address = parseAddress(text)
  if (typeof address === 'string') throw new Error(address)
  return address.bytes
}
const EVM = bytesOf(`0x${'11'.repeat(20)}`)
const SOLANA = bytesOf('So11111111111111111111111111111111111111112')

const onHub = { kind: 'token', network: '1', token: TOKEN, minimum: 5n } as const
const onSolana = { kind: 'token', network: 'solana', token: MINT, minimum: 1n } as const
const member = { kind: 'cluster', name: 'club' } as const

const asked: string[] = []
const portOf = (label: string, balance: bigint) => ({
  label,
  async tokenBalance(token: string, wallet: string) {
    asked.push(`${label} ${token} ${wallet}`)
    return balance
  },
})
const read = (
  wallet: Buffer,
  requirements: Parameters<typeof readRequirementInputs>[0]['requirements'],
  ports = PORTS,
) =>
  readRequirementInputs({
    wallet,
    requirements,
    ports,
    verifiedIn: async (names) => new Set(names),
  })
const PORTS = [portOf('1', 5n), portOf('solana', 1n)]

it('asks each chain once, and only for the balances that are needed', async () => {
  const inputs = await read(EVM, [onHub, onHub, member])
  expect(inputs).toEqual({
    address: `0x${'11'.repeat(20)}`,
    balances: new Map([[`1/${TOKEN}`, 5n]]),
    verifiedIn: new Set(['club']),
  })
  expect(asked.splice(0)).toEqual([`1 ${TOKEN} 0x${'11'.repeat(20)}`])
  await read(EVM, [{ kind: 'allowlist', addresses: [] }])
  expect(asked).toEqual([])
})

it('a wallet has no tokens on chains of the other kind', async () => {
  expect(areRequirementsMet([onSolana], await read(EVM, [onSolana]))).toBe(false)
  expect(areRequirementsMet([onHub], await read(SOLANA, [onHub]))).toBe(false)
  expect(areRequirementsMet([onSolana], await read(SOLANA, [onSolana]))).toBe(true)
  expect(asked.splice(0)).toHaveLength(1)
})

it('fails for a chain that is no longer configured', async () => {
  await expect(read(EVM, [onHub], [])).rejects.toThrow(ChainUnavailableError)
})
