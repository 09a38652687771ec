import { execFile, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFunctionData, type Hex, pad, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  localTokenAbi,
  localTokenBytecode,
} from '../../contracts/evm/artifacts/local/LocalToken.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { packetOf } from '../contracts/support/bridge.js'
import { testProgram } from '../setup/built.js'
import { startTestDaemon } from '../support/daemon.js'
import { useServer } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { writeKeystore } from '../support/keystore.js'
import { carry, type PublicChain, sendAs, startPublicChains } from '../support/publicChains.js'
import { useWorld } from '../support/useWorld.js'
import { ask } from '../support/world.js'

/**
 * A deployment from nothing, as somebody does it who has the commands and their documents alone: two chains with
 * nothing but LayerZero's own contracts on them, an empty folder, and a chains file that says what is desired.
 */
const folder = useFolder()
const deployerKey = generatePrivateKey()
const deployer = privateKeyToAccount(deployerKey)
const relayer = privateKeyToAccount(generatePrivateKey())
const SAFE: Hex = '0x5afe000000000000000000000000000000005afe'

let hub: PublicChain
let spoke: PublicChain
let signing: string[]

beforeAll(async () => {
  const chains = await startPublicChains([
    { chainId: 901_001, eid: 40_161 },
    { chainId: 901_002, eid: 40_217 },
  ])
  hub = chains[0]!
  spoke = chains[1]!
  for (const { testClient } of chains)
    for (const { address } of [deployer, relayer])
      await testClient.setBalance({ address, value: parseEther('10') })
  signing = [...writeKeystore(folder, 'deployer', deployerKey), '--yes']
}, 60_000)
afterAll(() => Promise.all([hub?.stop(), spoke?.stop()]))

interface ChainsJson {
  chains: {
    label: string
    contract?: Hex
    communityPayments?: Hex
    startBlock?: number
    [field: string]: unknown
  }[]
  deployment: Record<string, Record<string, unknown>>
}

const bridgeOf = ({ sendLibrary, receiveLibrary, executor, dvns }: PublicChain) => ({
  sendLibrary,
  receiveLibrary,
  executor,
  requiredDvns: dvns,
  confirmations: 2,
})

/**
 * The file that an operator writes: chains, and the owners of the contracts. Labels are of public chains, but the
 * chains are local.
 */
function writeDesired(
  name: string,
  owner: Hex,
  [hubLabel, spokeLabel]: readonly [string, string],
): string {
  const common = (chain: PublicChain) => ({
    chainId: chain.chainId,
    rpcUrls: [chain.rpcUrl],
    endpoint: chain.endpoint,
    eid: chain.eid,
    confirmation: { blocks: 0 },
    pollMs: 100,
    bridge: bridgeOf(chain),
  })
  const network = hubLabel === '1' ? 'mainnet' : 'testnet'
  const chains: ChainsJson = {
    chains: [
      { label: hubLabel, role: 'hub', ...common(hub) },
      { label: spokeLabel, role: 'spoke', ...common(spoke) },
    ],
    deployment: { [network]: { owner, pauser: deployer.address, relayer: relayer.address } },
  }
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(chains, null, 4))
  return file
}

const readChains = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as ChainsJson

/** Runs a command. @returns its code and all that it printed */
const run = (file: string, ...args: string[]) => runWith({}, file, ...args)

async function runWith(
  own: NodeJS.ProcessEnv,
  file: string,
  ...args: string[]
): Promise<{ code: number; out: string }> {
  const { command, args: cli } = await programCommand('cli')
  const env = { ...process.env, CLUSTERD_CHAINS: file, ...own }
  return new Promise((resolve) => {
    execFile(command, [...cli, ...args], { env, cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), out: `${stdout}${stderr}` }),
    )
  })
}

/** Runs a command and kills it while its first transaction waits in the hub's pool. */
async function runAndKill(file: string, ...args: string[]): Promise<void> {
  const { command, args: cli } = await programCommand('cli')
  const child = spawn(command, [...cli, ...args], {
    env: { ...process.env, CLUSTERD_CHAINS: file },
    cwd: folder,
  })
  const exit = new Promise((resolve) => child.once('exit', resolve))
  await vi.waitFor(async () => expect((await hub.testClient.getTxpoolStatus()).pending).toBe(1), {
    timeout: 20_000,
  })
  child.kill('SIGKILL')
  await exit
}

/** A signer elsewhere that has the deployer's key. */
async function startSigner(chainId: number) {
  const env = { ...process.env, SIGNER_KEY: deployerKey, SIGNER_CHAIN_ID: String(chainId) }
  const child = spawn(process.execPath, [await testProgram('test/support/signerProcess')], { env })
  const port = await new Promise<string>((resolve) => {
    child.stdout.on('data', (bytes: Buffer) =>
      resolve(/signer on (\d+)/.exec(bytes.toString())?.[1] ?? ''),
    )
  })
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() }
}

const noncesOf = (address: Hex) =>
  Promise.all([hub, spoke].map(({ publicClient }) => publicClient.getTransactionCount({ address })))

/** Adds the fields that a command reports as missing in the chains file. */
function paste(file: string, out: string): void {
  const json = readChains(file)
  for (const [, label, fields] of out.matchAll(/Missing in the chains file for chain (\d+): (.*)/g))
    Object.assign(json.chains.find((chain) => chain.label === label)!, JSON.parse(fields!))
  writeFileSync(file, JSON.stringify(json))
}

/** The chains file names contracts that stand, and the very blocks since which they do. */
async function expectWritten(file: string): Promise<void> {
  const { chains } = readChains(file)
  for (const [i, { publicClient }] of [hub, spoke].entries()) {
    const { contract, communityPayments, startBlock } = chains[i]!
    const codeAt = (block: number) =>
      publicClient.getCode({ address: contract!, blockNumber: BigInt(block) })
    expect(await codeAt(startBlock!)).toMatch(/^0x../)
    expect(await codeAt(startBlock! - 1)).toBeUndefined()
    expect(await publicClient.getCode({ address: communityPayments! })).toMatch(/^0x../)
  }
}

/** The calls that `--unsigned` prints. */
async function callsOf(file: string) {
  const { code, out } = await run(file, 'contracts', 'deploy', '--unsigned')
  expect(code, out).toBe(0)
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<'chain' | 'from' | 'value' | 'does', string> & Call)
}
interface Call {
  chainId: number
  to: Hex
  data: Hex
}

describe('a deployment with a key', () => {
  let file: string

  it('says before what it would do, and does nothing by that', async () => {
    file = writeDesired('chains.json', deployer.address, ['11155111', '17000'])
    const before = readFileSync(file, 'utf8')
    expect(
      (await runWith({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }, file, 'doctor')).out,
    ).toContain('clusterd contracts deploy')
    const calls = await callsOf(file)
    expect(calls).toHaveLength(11)
    expect(calls[0]!.does).toMatch(/^deploys the hub at 0x[0-9a-f]{40}/)
    expect(calls.slice(-2).map(({ does }) => does)).toEqual(
      Array(2).fill(expect.stringContaining('setPeer')),
    )
    expect((await run(file, 'contracts', 'deploy')).out).toContain(
      'say --keystore, --signer-url or --unsigned',
    )
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(await noncesOf(deployer.address)).toEqual([0, 0])
  })

  it('needs the proxy that deploys at known addresses', async () => {
    const address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
    const code = await spoke.publicClient.getCode({ address })
    await spoke.testClient.setCode({ address, bytecode: '0x' })
    expect((await run(file, 'contracts', 'deploy', ...signing)).out).toContain(
      'deterministic deployment proxy',
    )
    await spoke.testClient.setCode({ address, bytecode: code! })
    expect(await noncesOf(deployer.address)).toEqual([0, 0])
  })

  it('goes on where it was killed, sends nothing twice, and ends as the file says', async () => {
    await hub.testClient.setAutomine(false)
    await runAndKill(file, 'contracts', 'deploy', ...signing)
    const again = run(file, 'contracts', 'deploy', '--write', ...signing)
    // what is in the pool is no reason to send it once more
    await sleep(1_000)
    await hub.testClient.mine({ blocks: 1 })
    await hub.testClient.setAutomine(true)
    const { code, out } = await again
    expect([code, out]).toEqual([0, expect.stringMatching(/\n\d\d as desired, 0 not\n/)])
    const sent = await noncesOf(deployer.address)
    expect(sent.reduce((sum, count) => sum + count)).toBe(11)
    expect(out).toContain(`Written to ${file}.`)
    await expectWritten(file)
    const status = await run(file, 'contracts', 'status')
    expect([status.code, status.out.match(/code at 0x[0-9a-f]{40}: ours/g)?.length]).toEqual([0, 4])
    expect((await run(file, 'contracts', 'deploy', ...signing)).out).toContain('Nothing to send')
    expect(await noncesOf(deployer.address)).toEqual(sent)
  })

  it('shows what somebody changed on a chain, and who mends it', async () => {
    const { contract } = readChains(file).chains[0]!
    const stranger = privateKeyToAccount(generatePrivateKey()).address
    for (const functionName of ['setRelayer', 'transferOwnership'] as const) {
      const data = encodeFunctionData({ abi: hubAbi, functionName, args: [stranger] })
      await sendAs(hub, deployer.address, { to: contract!, data })
    }
    const { code, out } = await run(file, 'contracts', 'status', '--json')
    expect(code).toBe(1)
    const wrong = (JSON.parse(out) as { isRight: boolean }[]).filter(({ isRight }) => !isRight)
    const by = deployer.address.toLowerCase()
    expect(wrong).toEqual([
      expect.objectContaining({ about: 'hub, pending owner', found: stranger.toLowerCase(), by }),
      expect.objectContaining({
        chain: '11155111',
        about: 'hub, relayer',
        found: stranger.toLowerCase(),
        wanted: relayer.address.toLowerCase(),
        by,
      }),
    ])
    const signer = await startSigner(hub.chainId)
    const remote = ['--signer-url', signer.url, '--from', deployer.address, '--yes']
    const mended = await run(file, 'contracts', 'deploy', ...remote).finally(() => signer.stop())
    expect(mended.code, mended.out).toBe(0)
  })

  it('raises the minimum on the spoke first, and lowers it on the hub first', async () => {
    const json = readChains(file)
    const chainsFor = async (minimumWei: string) => {
      Object.assign(json.deployment.testnet!, { minimumWei })
      const changed = join(folder, 'minimum.json')
      writeFileSync(changed, JSON.stringify(json))
      const calls = await callsOf(changed)
      return calls.flatMap(({ chain, does }) =>
        does.includes(`setMinimum(${minimumWei})`) ? [chain] : [],
      )
    }
    expect(await chainsFor('20000000000000000')).toEqual(['17000', '11155111'])
    expect(await chainsFor('1')).toEqual(['11155111', '17000'])
  })

  it('does not exist where the file names another contract', async () => {
    const json = readChains(file)
    json.chains[0]!.contract = hub.endpoint
    const other = join(folder, 'other.json')
    writeFileSync(other, JSON.stringify(json))
    expect((await run(other, 'contracts', 'deploy', ...signing)).out).toContain(
      'It is another contract',
    )
  })
})

describe('what was deployed', () => {
  const server = useServer()
  const daemon = useWorld(() =>
    startTestDaemon(server.url, readChains(join(folder, 'chains.json'))),
  )
  const at = () => ({ api: daemon.api })
  beforeAll(async () => {
    // until then it sells no name
    const isWell = async () => expect((await daemon.status()).problems).toEqual([])
    await vi.waitFor(isWell, { timeout: 20_000, interval: 50 })
  })

  /** Pays for a name as the API says. */
  async function register(label: string, chain: PublicChain, name: string) {
    const [, , alice] = chain.accounts
    const body = { network: label, sender: alice, names: [{ name }] }
    const quoted = await ask<{ transactionData: { to: Hex; data: Hex; value: string } }>(
      'POST',
      '/v1/names/register/evm',
      body,
      at(),
    )
    expect(quoted, JSON.stringify(quoted.body)).toMatchObject({ status: 200 })
    const { to, data, value } = quoted.body.transactionData
    return chain.succeed({ from: alice!, to, data, value: BigInt(value) })
  }

  it('takes registrations from the hub, and from the spoke over LayerZero’s own libraries', async () => {
    const direct = await register('11155111', hub, 'alice')
    const bridged = await register('17000', spoke, 'bob')
    await carry(hub, packetOf(bridged), parseEther('0.01'), 2n)
    for (const { transactionHash } of [direct, bridged])
      await vi.waitFor(
        async () => {
          const { body } = await ask(
            'GET',
            `/v1/names/register/tx/${transactionHash}?testnet=true`,
            undefined,
            at(),
          )
          expect(body, JSON.stringify([body, daemon.warnings()])).toMatchObject({
            status: 'finalized',
          })
        },
        { timeout: 20_000, interval: 200 },
      )
  })

  it('shows what it keeps', async () => {
    const file = join(folder, 'chains.json')
    const shown = (await run(file, 'contracts', 'status')).out
    expect(shown).toMatch(
      /chain 11155111, hub: keeps 0.02 ETH, owes 0 ETH(.*\n)+chain 17000, payments: holds 0 ETH/,
    )
  })

  it('gets an airdrop’s distributor, funded and recorded', async () => {
    const file = join(folder, 'chains.json')
    const token = await hub.deploy(localTokenBytecode)
    const minting = {
      abi: localTokenAbi,
      functionName: 'mint',
      args: [deployer.address, 1_000n],
    } as const
    const rows = hub.accounts.slice(0, 3).map((address) => `${address},100`)
    writeFileSync(join(folder, 'drop.csv'), `address,amount\n${rows.join('\n')}\n`)
    const clusterd = (...args: string[]) =>
      runWith({ DATABASE_URL: server.url }, file, 'airdrop', ...args)
    const loaded = await clusterd('load', 'drop.csv', '--community', 'club', '--chain', '11155111')
    expect(loaded.code, loaded.out).toBe(0)
    const terms = [
      '--owner',
      deployer.address,
      '--token',
      token,
      '--ends-at',
      '2028-01-31',
      '--fund',
    ]
    const [unfunded] = await noncesOf(deployer.address)
    const refused = await clusterd('deploy', 'club', ...terms, ...signing)
    expect(refused.out).toContain(
      `${deployer.address} has 0 of the token ${token} on chain "11155111", and the distributor needs 300: send it the rest, then run this again.`,
    )
    expect((await noncesOf(deployer.address))[0]).toBe(unfunded)
    await hub.succeed({ from: hub.accounts[0]!, to: token, data: encodeFunctionData(minting) })
    const past = terms.map((term) => (term === '2028-01-31' ? '2025-01-31' : term))
    const late = await clusterd('deploy', 'club', ...past, ...signing)
    expect(late.out).toContain('--ends-at 2025-01-31T00:00:00.000Z has passed: name a later time.')
    const { code, out } = await clusterd('deploy', 'club', ...terms, ...signing)
    expect(code, out).toBe(0)
    const [, distributor] = /distributor +(0x[0-9a-f]{40})/.exec(out) as unknown as [string, Hex]
    const asked = {
      address: token,
      abi: localTokenAbi,
      functionName: 'balanceOf',
      args: [distributor],
    } as const
    expect(await hub.publicClient.readContract(asked)).toBe(300n)
    const [sent] = await noncesOf(deployer.address)
    expect((await clusterd('deploy', 'club', ...terms, ...signing)).code).toBe(0)
    await clusterd('load', 'drop.csv', '--community', 'guild', '--chain', '11155111')
    expect((await clusterd('deploy', 'guild', ...terms, ...signing)).out).toContain(
      `${distributor} is the distributor of "club", and pays each claim once`,
    )
    expect((await noncesOf(deployer.address))[0]).toBe(sent)
  })
})

describe('a deployment by a Safe', () => {
  it('takes what any key may deploy, then its calls in their order, after which everything is as desired', async () => {
    const file = writeDesired('safe.json', SAFE, ['1', '10'])
    const deployed = await run(file, 'contracts', 'deploy', ...signing)
    expect(deployed.out).toContain(`${SAFE} has to sign the next`)
    expect(deployed.out.match(/^sent /gm)).toHaveLength(4)
    expect((await run(file, 'contracts', 'deploy', ...signing)).out).toContain(
      `clusterd: ${SAFE} has to sign`,
    )
    for (const { chainId, from, to, value, data } of await callsOf(file)) {
      expect(from, `to ${to}`).toBe(SAFE)
      await sendAs([hub, spoke].find((one) => one.chainId === chainId)!, SAFE, {
        to,
        data,
        value: BigInt(value),
      })
    }
    const { code, out } = await run(file, 'contracts', 'status')
    expect(code, out).toBe(0)
    paste(file, out)
    await expectWritten(file)
    const args = [30_102, pad(deployer.address)] as const
    const data = encodeFunctionData({ abi: hubAbi, functionName: 'setPeer', args })
    await sendAs(hub, SAFE, { to: readChains(file).chains[0]!.contract!, data })
    expect((await run(file, 'contracts', 'status')).out).toContain(
      'No chain of the network has this id',
    )
  })
})
