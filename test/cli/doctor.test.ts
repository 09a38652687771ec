import { concat, encodeFunctionData, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { type ChainConfig, parseChainsFile } from '../../src/config/index.js'
import { checkEvmChains } from '../../src/daemon/families/evmChecks.js'
import { freshEach } from '../contracts/support/chain.js'
import { startHubWorld } from '../contracts/support/hub.js'
import { useWorld } from '../support/useWorld.js'

const world = useWorld(() => startHubWorld())
freshEach(() => world)

const PLAIN = `0x${'0a'.repeat(20)}` as const
/** Code of an account that delegates to a contract (EIP-7702). */
const DELEGATED = concat(['0xef0100', `0x${'0c'.repeat(20)}`])
/** Code of any contract. */
const CODE: Hex = '0x00'

/** Transfers the hub to an account with this code. */
async function handOver(code: Hex) {
  const { hub, owner, succeed, impersonate, testClient } = world
  await impersonate(PLAIN)
  const call = (functionName: 'transferOwnership' | 'acceptOwnership', args: readonly [] | [Hex]) =>
    encodeFunctionData({ abi: hubAbi, functionName, args } as never)
  await succeed({ from: owner, to: hub, data: call('transferOwnership', [PLAIN]) })
  await succeed({ from: PLAIN, to: hub, data: call('acceptOwnership', []) })
  await testClient.setCode({ address: PLAIN, bytecode: code })
}

/** The doctor's finding about the owner of a network's hub, or about another subject. */
async function ownerFinding(
  network: 'mainnet' | 'testnet',
  changed: Partial<ChainConfig> = {},
  subject = 'owner of the hub',
) {
  const { rpcUrl, hub, publicClient } = world
  const { hash: genesisHash } = await publicClient.getBlock({ blockNumber: 0n })
  const hubChain = {
    network,
    label: network === 'mainnet' ? '1' : '11155111',
    role: 'hub',
    chainId: world.chain.id,
    genesisHash,
    rpcUrls: [rpcUrl],
    contract: hub,
  }
  const { chains } = parseChainsFile({ chains: [hubChain] }, 'test')
  const config = { ...chains[0]!, ...changed }
  const findings = await checkEvmChains({ chains: [config], relayerKey: undefined })
  const found = findings.find(({ about }) => about.endsWith(subject))
  return found && [found.level, `${found.found}. ${found.advice ?? ''}`]
}

describe('clusterd doctor, about the owner of a hub', () => {
  it.each<[string, Hex, string]>([
    ['no code', '0x', 'bad'],
    ['a delegation of a key', DELEGATED, 'bad'],
    ['a contract', CODE, 'ok'],
  ])('on a mainnet, with %s', async (_, code, level) => {
    await handOver(code)
    const [found, text] = (await ownerFinding('mainnet'))!
    expect(found).toBe(level)
    if (level === 'bad') {
      expect(text).toContain('is a plain account')
      expect(text).toContain('timelock whose proposer is a multisig')
    }
  })

  it('accepts a plain account on a testnet', async () => {
    await handOver('0x')
    expect(await ownerFinding('testnet')).toMatchObject(['ok', /is a plain account/])
  })

  it.each<[string, Partial<ChainConfig>]>([
    ['a local chain', { local: true }],
    ['a hub of others', { watchOnly: { minimum: [], quotes: false } }],
  ])('has no finding on %s', async (_, changed) => {
    expect(await ownerFinding('mainnet', changed)).toBeUndefined()
  })

  it('reports an address without code', async () => {
    const found = await ownerFinding('mainnet', { contract: PLAIN }, ', hub')
    expect(found).toEqual(['bad', `${PLAIN} has no code. Correct the address in the chains file.`])
  })

  it('reports a contract without an owner', async () => {
    await world.testClient.setCode({ address: PLAIN, bytecode: CODE })
    const [level, text] = (await ownerFinding('mainnet', { contract: PLAIN }))!
    expect(level).toBe('bad')
    expect(text).toContain('owner()')
  })
})
