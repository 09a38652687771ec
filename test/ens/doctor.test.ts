import { type Hex, namehash } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  testEnsOwnersAbi,
  testEnsOwnersBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestEnsOwners.js'
import { checkEnsNames } from '../../src/cli/doctor/ens.js'
import { createEnsGateway } from '../../src/ens/gateway.js'
import { callsOf } from '../contracts/support/chain.js'
import { encode } from '../contracts/support/ens.js'
import { ENS_CHAIN_ID, ensKey, parentsWith, RESOLVER, strangersKey } from '../support/ens.js'
import { type EnsWorld, L2_REGISTRAR, startEnsWorld } from './world.js'

let world: EnsWorld
let registry: Hex
beforeAll(async () => {
  world = await startEnsWorld()
  const { deploy, owner, succeed } = world.contracts
  registry = await deploy(testEnsOwnersBytecode)
  for (const [set, to] of [
    ['setOwner', owner],
    ['setResolver', world.resolver],
  ] as const)
    await succeed({
      from: owner,
      to: registry,
      data: callsOf(testEnsOwnersAbi)(set, [namehash('bundles.eth'), to]),
    })
})
afterAll(() => world?.stop())

/** Findings about `bundles.eth` with one setting changed, with their advice. */
async function examineAll(changed: object = {}) {
  const nodes = { rpcUrls: [world.contracts.rpcUrl], registry }
  const mainnet = { ...parentsWith(world.resolver).mainnet, ...nodes, ...changed }
  const findings = await checkEnsNames({ chains: [], ens: { mainnet } })
  return findings.map(({ level, found, advice }) => `${level}: ${found} ${advice}`)
}
const examine = async (changed: object = {}) => (await examineAll(changed))[0]
const DEPLOY = 'run `clusterd contracts deploy --ens bundles.eth`.'
const CORRECT = `Correct \`resolver\` in \`ens\`, or ${DEPLOY}`

describe('clusterd doctor', () => {
  it('resolves a name up to the answer', async () => {
    expect(await examine()).toBe(`ok: resolves by ${world.resolver} undefined`)
  })

  it.each<{ name: string; changed: object; said: () => string }>([
    {
      name: 'a chain',
      changed: { rpcUrls: undefined },
      said: () => 'The chains file has no chain 31337: name its nodes',
    },
    {
      name: 'a registry',
      changed: { registry: RESOLVER },
      said: () => `${RESOLVER} has no resolver() See the nodes, \`resolver\` and \`registry\``,
    },
    {
      name: 'a resolver',
      changed: { resolver: RESOLVER },
      said: () => `the registry names ${world.resolver}, not ${RESOLVER} ${CORRECT}`,
    },
  ])('reports a wrong $name', async ({ changed, said }) => {
    expect(await examine(changed)).toContain(`bad: ${said()}`)
  })

  it.each([
    ['/nowhere', 'answers HTTP 404 Give the API there `ens` and its key'],
    [':1', 'gives no answer of a gateway Start the API there'],
  ])('reports the URL …%s', async (path, said) => {
    const { takenBack, succeed, tx, owner } = world.contracts
    const url = `${path.startsWith(':') ? 'http://127.0.0.1' : world.url}${path}/{sender}/{data}.json`
    await takenBack(async () => {
      await succeed(tx(encode('setUrls', [[url]]), owner))
      expect(await examine()).toBe(`bad: ${url} ${said}, or correct SITE_URL and ${DEPLOY}`)
    })
  })

  it.each<{ name: string; chainId?: number; address: () => Hex; said: string }>([
    { name: 'the right contract', address: () => world.reverseRegistrar, said: 'ok: ' },
    {
      name: 'no contract',
      address: () => RESOLVER,
      said: 'has no code Correct `reverseRegistrars`',
    },
    {
      name: 'a contract without setName',
      address: () => world.resolver,
      said: 'refuses setName(string) Correct `reverseRegistrars`',
    },
    {
      name: 'a chain that is not listed',
      chainId: 8453,
      address: () => L2_REGISTRAR,
      said: 'the chains file does not list that chain See on a node',
    },
  ])('examines a reverse registrar: $name', async ({ chainId = ENS_CHAIN_ID, address, said }) => {
    const [name, registrar] = await examineAll({ reverseRegistrars: { [chainId]: address() } })
    expect(name).toContain('ok: resolves')
    expect(registrar).toContain(address())
    expect(registrar).toContain(said)
  })

  const SIGN = ensKey.signTypedData
  const ADVICE = `Give the API this chains file and a signer's key, set its clock by NTP, or ${DEPLOY}`
  const mainnet = () => ({ mainnet: parentsWith(world.resolver).mainnet })
  const testnet = () => ({ testnet: parentsWith(world.resolver).testnet })

  it.each<{ name: string; gateway: () => Parameters<EnsWorld['serve']>[0]; said: string }>([
    {
      name: 'another key',
      gateway: () => createEnsGateway(mainnet(), strangersKey.signTypedData),
      said: `the answer (bad signature) ${ADVICE}`,
    },
    {
      name: 'an old answer',
      gateway: () => createEnsGateway(mainnet(), SIGN, () => 1),
      said: 'the answer (answer expired)',
    },
    {
      name: 'another resolver',
      gateway: () => createEnsGateway(parentsWith(RESOLVER), SIGN),
      said: 'the answer (other resolver)',
    },
    {
      name: 'no answer',
      gateway: () => async () => '0x00',
      said: 'the answer (no reason)',
    },
    {
      name: 'an API that serves another name',
      gateway: () => createEnsGateway(testnet(), SIGN),
      said: 'answers HTTP 400 Give the API there `ens` and its key',
    },
  ])('reports $name', async ({ gateway, said }) => {
    world.serve(gateway())
    expect(await examine()).toContain(said)
  })
})
