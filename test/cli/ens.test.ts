import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeDeployData, type Hex, namehash, parseEther, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensResolverAbi } from '../../contracts/evm/artifacts/EnsResolver.js'
import {
  testEnsOwnersAbi,
  testEnsOwnersBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestEnsOwners.js'
import {
  testNameWrapperAbi as abi,
  testNameWrapperBytecode as bytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestNameWrapper.js'
import { addContractCommands } from '../../src/cli/contracts/commands.js'
import { type Chain, callsOf, startChain } from '../contracts/support/chain.js'
import { runHere } from '../support/cli.js'
import { ENS_CHAIN_ID, ensKey, nextEnsKey, RESOLVER as SAFE } from '../support/ens.js'
import { useFolder } from '../support/folder.js'
import { writeKeystore } from '../support/keystore.js'

const folder = useFolder()
const key = generatePrivateKey()
const owner = privateKeyToAccount(key).address.toLowerCase() as Hex
const signing = [...writeKeystore(folder, 'owner', key), '--yes']

let chain: Chain
let registry: Hex
let wrapper: Hex
let resolver: Hex
beforeAll(async () => {
  chain = await startChain(ENS_CHAIN_ID)
  registry = await chain.deploy(testEnsOwnersBytecode)
  wrapper = await chain.deploy(encodeDeployData({ abi, bytecode, args: [registry] }))
  await chain.testClient.setBalance({ address: owner, value: parseEther('1') })
})
afterAll(() => chain?.stop())

/** Runs `clusterd contracts deploy --ens` for a name with these fields in `ens` of the chains file. */
async function run({
  parent = 'bundles.eth',
  fields = {},
  ofHub = {},
  args = signing,
  env = {},
} = {}) {
  const CLUSTERD_CHAINS = join(folder, 'chains.json')
  const entry = { parent, chainId: ENS_CHAIN_ID, rpcUrls: [chain.rpcUrl], registry, ...fields }
  const hub = { label: '1', role: 'hub', rpcUrls: ['http://127.0.0.1:1'], ...ofHub }
  const deployment = { mainnet: { owner, relayer: owner } }
  writeFileSync(
    CLUSTERD_CHAINS,
    JSON.stringify({ chains: [hub], deployment, ens: { mainnet: entry } }),
  )
  const site = { SITE_URL: 'https://bundles.example/', ENS_ADDRESS: ensKey.address }
  const asked = ['contracts', 'deploy', '--ens', parent, ...args]
  const { code, stdout, stderr } = await runHere(addContractCommands, asked, {
    CLUSTERD_CHAINS,
    ...site,
    ...env,
  })
  return { code, out: `${stdout}${stderr}` }
}
const unsigned = async (parent?: string) =>
  (await run({ ...(parent && { parent }), args: ['--unsigned'] })).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const send = (to: Hex, data: Hex) => chain.succeed({ from: chain.accounts[0]!, to, data })
const give = (to: Hex) =>
  send(registry, callsOf(testEnsOwnersAbi)('setOwner', [namehash('bundles.eth'), to]))
const sent = () => chain.publicClient.getTransactionCount({ address: owner })
const named = async (parent: string) => {
  const question = { functionName: 'resolver', args: [namehash(parent)] } as const
  return (
    await chain.publicClient.readContract({ address: registry, abi: testEnsOwnersAbi, ...question })
  ).toLowerCase()
}

it.each<{ name: string; options: Parameters<typeof run>[0]; sentence: string }>([
  {
    name: 'an owner',
    options: {},
    sentence: 'Nobody owns bundles.eth in the registry 0x',
  },
  {
    name: 'the name in the chains file',
    options: { fields: { parent: 'other.eth' } },
    sentence: '`ens` of bundles.eth',
  },
  {
    name: 'a node',
    options: { fields: { rpcUrls: undefined } },
    sentence: 'name its nodes',
  },
  {
    name: 'a site',
    options: { env: { SITE_URL: undefined } },
    sentence: 'SITE_URL is not set',
  },
  {
    name: 'a signer',
    options: { env: { ENS_ADDRESS: undefined } },
    sentence: 'ENS_ADDRESS is not set',
  },
])('sends nothing where $name is missing, and reports it', async ({ options, sentence }) => {
  expect(await run(options)).toEqual({ code: 1, out: expect.stringContaining(sentence) })
  expect(await sent()).toBe(0)
})

it('prints the transactions of the name’s owner, and sends them if the owner signs', async () => {
  await give(SAFE)
  const does = expect.stringMatching(/^makes 0x\w+ the resolver of bundles.eth by the registry 0x/)
  const deploying = {
    chain: '31337',
    from: owner,
    does: expect.stringContaining('deploys the ENS resolver at 0x'),
  }
  expect(await unsigned()).toMatchObject([deploying, { from: SAFE, to: registry, does }])
  expect((await run()).out).toContain(`${SAFE} has to sign the next: chain 31337: makes 0x`)
  await give(owner)
  const onHub = { chainId: ENS_CHAIN_ID, rpcUrls: [chain.rpcUrl], maxGasPriceWei: '1' }
  expect((await run({ ofHub: onHub })).out).toContain('costs more than 1 wei')
  const { code, out } = await run()
  resolver = /Put "resolver": "(0x\w+)" into/.exec(out)![1] as Hex
  expect([code, await named('bundles.eth')]).toEqual([0, resolver])
  expect((await run({ fields: { resolver } })).out).toMatch(
    /^Nothing to send.\n(ok .*\n)+\n6 as desired, 0 not\n$/,
  )
  expect(await sent()).toBe(2)
})

it('uses the NameWrapper for a wrapped name', async () => {
  await send(wrapper, callsOf(abi)('wrap', [namehash('wrapped.eth'), owner]))
  // this is also the contract of the other name
  const does = expect.stringContaining('by the NameWrapper, which holds it')
  expect(await unsigned('wrapped.eth')).toMatchObject([{ from: owner, to: wrapper, does }])
  expect([(await run({ parent: 'wrapped.eth' })).code, await named('wrapped.eth')]).toEqual([
    0,
    resolver,
  ])
})

it('replaces key and URL in two runs, between which both keys are valid', async () => {
  const env = { SITE_URL: 'https://two.example', ENS_ADDRESS: nextEnsKey.address }
  const read = (functionName: 'signers' | 'urls', place = 0n) =>
    chain.publicClient.readContract({
      address: resolver,
      abi: ensResolverAbi,
      functionName,
      args: [place],
    })
  const first = await run({ fields: { resolver }, env })
  expect(first).toEqual({
    code: 1,
    out: expect.stringContaining('Clear the other once each API has this key.'),
  })
  expect([await read('signers'), await read('signers', 1n)]).toEqual([
    ensKey.address,
    nextEnsKey.address,
  ])
  expect((await run({ fields: { resolver }, env })).code).toBe(0)
  expect([await read('signers'), await read('signers', 1n)]).toEqual([
    zeroAddress,
    nextEnsKey.address,
  ])
  expect(await read('urls')).toBe('https://two.example/ens/{sender}/{data}.json')
})
