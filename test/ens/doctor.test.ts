import { type Hex, namehash } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  testEnsOwnersAbi,
  testEnsOwnersBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestEnsOwners.js'
import { ensFindings } from '../../src/cli/doctor/ens.js'
import { createEnsGateway } from '../../src/ens/gateway.js'
import { callsOf } from '../contracts/support/chain.js'
import { encode } from '../contracts/support/ens.js'
import { ensKey, parentsWith, RESOLVER, strangersKey } from '../support/ens.js'
import { type EnsWorld, startEnsWorld } from './world.js'

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

/** Finding about `bundles.eth` with one thing changed, and the advice. */
async function examine(changed: object = {}) {
  const nodes = { rpcUrls: [world.contracts.rpcUrl], registry }
  const mainnet = { ...parentsWith(world.resolver).mainnet, ...nodes, ...changed }
  const [{ level, found, advice } = {}] = await ensFindings({ chains: [], ens: { mainnet } })
  return `${level}: ${found} ${advice}`
}
const DEPLOY = 'run `clusterd contracts deploy --ens bundles.eth`.'
const CORRECT = `Correct \`resolver\` in \`ens\`, or ${DEPLOY}`

describe('clusterd doctor', () => {
  it('goes to an answer, and names a chain, registry or resolver that is wrong', async () => {
    const { resolver } = world
    expect(await examine()).toBe(`ok: resolves by ${resolver} undefined`)
    for (const [changed, said] of [
      [{ rpcUrls: undefined }, 'The chains file has no chain 31337: name its nodes'],
      [
        { registry: RESOLVER },
        `${RESOLVER} has no resolver() See the nodes, \`resolver\` and \`registry\``,
      ],
      [{ resolver: RESOLVER }, `the registry names ${resolver}, not ${RESOLVER} ${CORRECT}`],
    ] as const)
      expect(await examine(changed)).toContain(`bad: ${said}`)
  })

  it.each([
    ['/nowhere', 'answers HTTP 404 Give the API there `ens` and its key'],
    [':1', 'gives no answer of a gateway Start the API there'],
  ])('names the URL …%s', async (path, said) => {
    const { takenBack, succeed, tx, owner } = world.contracts
    const url = `${path.startsWith(':') ? 'http://127.0.0.1' : world.url}${path}/{sender}/{data}.json`
    await takenBack(async () => {
      await succeed(tx(encode('setUrls', [[url]]), owner))
      expect(await examine()).toBe(`bad: ${url} ${said}, or correct SITE_URL and ${DEPLOY}`)
    })
  })

  it('names what the resolver refuses, and the API that serves another name', async () => {
    const { mainnet, testnet } = parentsWith(world.resolver)
    const sign = ensKey.signTypedData
    const advice = `Give the API this chains file and a signer's key, set its clock by NTP, or ${DEPLOY}`
    for (const [gateway, said] of [
      [
        createEnsGateway({ mainnet }, strangersKey.signTypedData),
        `the answer (bad signature) ${advice}`,
      ],
      [createEnsGateway({ mainnet }, sign, () => 1), 'the answer (answer expired)'],
      [createEnsGateway(parentsWith(RESOLVER), sign), 'the answer (other resolver)'],
      [async () => '0x00' as const, 'the answer (no reason)'],
      [
        createEnsGateway({ testnet }, sign),
        'answers HTTP 400 Give the API there `ens` and its key',
      ],
    ] as const) {
      world.serve(gateway)
      expect(await examine()).toContain(said)
    }
  })
})
