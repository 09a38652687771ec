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
const EVM_WALLET = bytesOf(`0x${'11'.repeat(20)}`)
const SOLANA_WALLET = bytesOf('So11111111111111111111111111111111111111112')

const hubTokenRequirement = { kind: 'token', network: '1', token: TOKEN, minimum: 5n } as const
const solanaTokenRequirement = {
  kind: 'token',
  network: 'solana',
  token: MINT,
  minimum: 1n,
} as const
const clusterRequirement = { kind: 'cluster', name: 'club' } as const

const askedBalances: string[] = []
const portOf = (label: string, balance: bigint) => ({
  label,
  async tokenBalance(token: string, wallet: string) {
    askedBalances.push(`${label} ${token} ${wallet}`)
    return balance
  },
})
const readInputs = (
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
  const inputs = await readInputs(EVM_WALLET, [
    hubTokenRequirement,
    hubTokenRequirement,
    clusterRequirement,
  ])
  expect(inputs).toEqual({
    address: `0x${'11'.repeat(20)}`,
    balances: new Map([[`1/${TOKEN}`, 5n]]),
    verifiedIn: new Set(['club']),
  })
  expect(askedBalances.splice(0)).toEqual([`1 ${TOKEN} 0x${'11'.repeat(20)}`])
  await readInputs(EVM_WALLET, [{ kind: 'allowlist', addresses: [] }])
  expect(askedBalances).toEqual([])
})

it('a wallet has no tokens on chains of the other kind', async () => {
  expect(
    areRequirementsMet(
      [solanaTokenRequirement],
      await readInputs(EVM_WALLET, [solanaTokenRequirement]),
    ),
  ).toBe(false)
  expect(
    areRequirementsMet(
      [hubTokenRequirement],
      await readInputs(SOLANA_WALLET, [hubTokenRequirement]),
    ),
  ).toBe(false)
  expect(
    areRequirementsMet(
      [solanaTokenRequirement],
      await readInputs(SOLANA_WALLET, [solanaTokenRequirement]),
    ),
  ).toBe(true)
  expect(askedBalances.splice(0)).toHaveLength(1)
})

it('fails for a chain that is no longer configured', async () => {
  await expect(readInputs(EVM_WALLET, [hubTokenRequirement], [])).rejects.toThrow(
    ChainUnavailableError,
  )
})
