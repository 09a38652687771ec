import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { encodeFunctionData, keccak256, toEventSelector, toHex } from 'viem'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { registrarIdl as usedIdl } from '../chains/solana/registrar.js'
import { chainPresetOf } from '../config/presets.js'
import * as contracts from './index.js'

describe('clusterd/contracts', () => {
  it('has typed interfaces with functions, events and errors, and bytecode', () => {
    const { hubAbi } = contracts
    const data = encodeFunctionData({
      abi: hubAbi,
      functionName: 'withdrawRefundFor',
      args: [`0x${'11'.repeat(20)}`],
    })
    expect(data).toHaveLength(2 + 8 + 64)
    // @ts-expect-error: the hub has no such function
    expect(() => encodeFunctionData({ abi: hubAbi, functionName: 'holderOf', args: [1n] })).toThrow(
      'holderOf',
    )
    const bid = hubAbi.find((item) => item.type === 'event' && item.name === 'Bid')!
    expect(toEventSelector(bid as never)).toBe(keccak256(toHex('Bid(bytes32,uint256,bytes32)')))
  })

  it.each([
    { name: 'hub', abi: contracts.hubAbi, bytecode: contracts.hubBytecode },
    { name: 'spoke', abi: contracts.spokeAbi, bytecode: contracts.spokeBytecode },
    {
      name: 'community payments',
      abi: contracts.communityPaymentsAbi,
      bytecode: contracts.communityPaymentsBytecode,
    },
    {
      name: 'airdrop distributor',
      abi: contracts.airdropDistributorAbi,
      bytecode: contracts.airdropDistributorBytecode,
    },
    {
      name: 'ENS resolver',
      abi: contracts.ensResolverAbi,
      bytecode: contracts.ensResolverBytecode,
    },
  ])('has an interface and bytecode of the $name', ({ abi, bytecode }) => {
    const kinds = abi.map(({ type }) => type)
    expect(kinds).toEqual(expect.arrayContaining(['constructor', 'error', 'event', 'function']))
    expect(bytecode).toMatch(/^0x6[0-9a-f]{1000}/)
  })

  it('has the addresses of contracts/versions.json', () => {
    const versions = JSON.parse(readFileSync('contracts/versions.json', 'utf8')) as Record<
      string,
      { addresses: object }
    >
    const recorded = Object.entries(versions).map(([name, one]) => [name, one.addresses])
    expect(contracts.addresses).toEqual(Object.fromEntries(recorded))
    expectTypeOf(contracts.addresses.Hub).toEqualTypeOf<Readonly<Record<string, `0x${string}`>>>()
  })

  it.each(Object.entries(contracts.layerZero))('has %s’s endpoint of the presets', (label, end) => {
    expect(chainPresetOf(label)).toMatchObject(end)
  })

  it('has Base’s endpoint id', () => {
    expect(contracts.layerZero['8453']).toEqual({
      eid: 30184,
      endpoint: chainPresetOf('8453')!.endpoint,
    })
  })

  it('names the files of the program on Solana', () => {
    expect(JSON.parse(readFileSync(contracts.registrarIdl, 'utf8'))).toEqual(usedIdl)
    const program = createHash('sha256')
      .update(readFileSync(contracts.registrarProgram))
      .digest('hex')
    expect(readFileSync('contracts/solana/registrar/registrar.so.sha256', 'utf8')).toContain(
      program,
    )
  })
})
