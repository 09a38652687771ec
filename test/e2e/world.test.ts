import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { getAddress, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, inject, it } from 'vitest'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { until } from '../../src/testing/index.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { ensClients } from '../support/ens.js'
import { waitForReceipt } from '../support/receipt.js'
import { ask, freshName, freshWallet, hubOf, sendRegistration, world } from '../support/world.js'

const run = promisify(execFile)

/** Primary name of an address on a chain. */
interface OnChain {
  chainId: number
  transaction: { to: Hex; data: Hex; value: string } | null
}

/** Runs a command of ours on the shared world. */
async function clusterd(...args: string[]): Promise<string> {
  const { command, args: own } = await programCommand('cli')
  const { stdout } = await run(command, [...own, ...args], {
    env: { ...process.env, CLUSTERD_HOME: inject('home') },
  })
  return stdout
}

describe('the local world', () => {
  it('describes itself in stack.json, readable only by its owner', () => {
    const file = path.join(inject('home'), 'stack.json')
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    const written = JSON.parse(fs.readFileSync(file, 'utf8'))
    expect(written).toEqual(world())
    expect(Object.keys(written).sort()).toEqual([
      'accounts',
      'api',
      'databaseUrl',
      'networks',
      'ops',
      'seeds',
    ])
    const address = expect.stringMatching(/^0x[0-9a-f]{40}$/)
    expect(written.networks.mainnet.hub).toEqual({
      network: '1',
      chainId: expect.any(Number),
      rpcUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      contracts: Object.fromEntries(
        ['hub', 'endpoint', 'communityPayments', 'token'].map((name) => [name, address]),
      ),
    })
    const spoke = (network: string) => ({
      network,
      chainId: expect.any(Number),
      rpcUrl: expect.stringMatching(/^http:/),
      contracts: { spoke: address, endpoint: address, communityPayments: address },
    })
    expect(written.networks.mainnet.spokes).toEqual([spoke('8453'), spoke('10')])
    expect(written.networks.testnet.hub.network).toBe('11155111')
    expect(written.networks.testnet.spokes).toEqual([spoke('17000')])
  })

  it.each(['mainnet', 'testnet'] as const)(
    'has ten funded accounts and seed data on %s, with its own chain id',
    async (network) => {
      const { reader, chainId, contracts, network: label } = hubOf(network)
      expect(await reader.getChainId()).toBe(chainId)
      expect(chainId).not.toBe(Number(label))
      expect(await reader.getCode({ address: contracts.hub })).toMatch(/^0x../)
      expect(world().accounts.evm).toHaveLength(10)
      for (const { address, privateKey } of world().accounts.evm) {
        expect(privateKeyToAccount(privateKey).address.toLowerCase()).toBe(address)
        expect(await reader.getBalance({ address }), address).toBeGreaterThan(10n ** 20n)
      }
      const seed = world().seeds[network]!
      expect(world().accounts.evm.map(({ address }) => address)).not.toContain(seed.owner)
      const testnet = network === 'testnet'
      const { body } = await ask(
        'GET',
        `/v1/names/address/${seed.owner}${testnet ? '?testnet=true' : ''}`,
      )
      expect(body).toMatchObject({ clusterName: seed.name, isVerified: true })
      await until.status(world(), seed.tx.finalized, 'finalized', { testnet })
      await until.status(world(), seed.tx.lost, 'lost_bid', { testnet })
      await until.status(world(), seed.tx.pending, 'pending', { testnet })
      await until.status(world(), seed.tx.bridging!, 'bridging', { testnet })
      // the packet is never delivered, because the relayer may not spend its value
      const path = `/v1/names/register/tx/${seed.tx.bridging}${testnet ? '?testnet=true' : ''}`
      const isParked = async () =>
        (await ask<{ reason?: string }>('GET', path)).body.reason === 'spend_cap'
      expect(await waitForCondition(isParked, 20_000)).toBe(true)
    },
  )

  it.each(['mainnet', 'testnet'] as const)(
    'has a free community and a paid one on %s',
    async (network) => {
      const { communities } = world().seeds[network]!
      const [admin] = world().accounts.evm
      expect(communities?.admin).toBe(admin?.address)
      const query = network === 'testnet' ? '?testnet=true' : ''
      const rulesOf = async (name: string) =>
        (await ask('GET', `/v1/communities/${name}${query}`)).body
      const none = { ownersOnly: false, startsAt: null, requirements: [] }
      expect(await rulesOf('club')).toEqual({ name: 'club', prices: [], ...none })
      expect(await rulesOf('guild')).toEqual({
        name: 'guild',
        prices: communities?.paid.prices,
        ...none,
      })
      const { hub, spokes, solana } = world().networks[network]
      const chains = [hub, ...spokes].map((chain) => chain.network)
      const paid = communities!.paid.prices.map((price) => price.network)
      expect(paid).toEqual([...chains, hub.network, ...(solana ? ['solana'] : [])])
    },
  )

  it.each(['mainnet', 'testnet'] as const)('resolves names of %s through ENS', async (network) => {
    const { hub, ens } = world().networks[network]
    const { viem, ethers } = ensClients(hub, ens)
    const { name, owner } = world().seeds[network]!
    expect(await viem.getEnsAddress({ name: `${name}.${ens.parent}` })).toBe(getAddress(owner))
    expect(await ethers.resolveName(`${name}.${ens.parent}`)).toBe(getAddress(owner))
    expect(await viem.getEnsAddress({ name: `${freshName()}.${ens.parent}` })).toBeNull()
    ethers.destroy()
  })

  it('shows a registered name as the primary one of its owner, and of nobody else', async () => {
    const { hub, ens } = world().networks.mainnet
    const { viem, ethers } = ensClients(hub, ens)
    ethers.destroy()
    const owner = await freshWallet()
    const stranger = await freshWallet()
    const name = freshName()
    await until.status(world(), await sendRegistration(owner, [{ name }]), 'finalized')
    const primaryOf = async (address: Hex) =>
      (await ask<{ chains: OnChain[] }>('GET', `/v1/names/${name}/primary/${address}`)).body.chains
    const [given] = await primaryOf(owner.address)
    const { to, data, value } = given!.transaction!
    expect(given).toMatchObject({
      chainId: hub.chainId,
      transaction: { to: ens.reverseRegistrar },
      current: null,
    })
    expect(await primaryOf(stranger.address)).toEqual([
      { chainId: hub.chainId, transaction: null, reason: 'other_address', current: null },
    ])
    expect(await viem.getEnsName({ address: owner.address })).toBeNull()
    for (const account of [owner, stranger]) {
      const hash = await createLocalWalletClient(hub, account).sendTransaction({
        to,
        data,
        value: BigInt(value),
      })
      await waitForReceipt(hubOf('mainnet').reader, hash)
    }
    expect(await viem.getEnsName({ address: owner.address })).toBe(`${name}.${ens.parent}`)
    expect(await viem.getEnsName({ address: stranger.address })).toBeNull()
    for (const { address } of [owner, stranger])
      expect(await primaryOf(address)).toMatchObject([{ current: `${name}.${ens.parent}` }])
  })

  it('registers a name from quote to event', async () => {
    const account = await freshWallet()
    const name = freshName()
    const tx = await sendRegistration(account, [{ name }])
    const seen: string[] = []
    await until.status(world(), tx, 'finalized', { onChange: ({ status }) => seen.push(status) })
    expect(seen.at(-1)).toBe('finalized')
    const event = await until.event(
      world(),
      ({ type, data }) => type === 'REGISTER_NAME' && data.name === name,
    )
    expect(event.from).toBe(account.address.toLowerCase())
  })

  it('reports the last status when a wait times out', async () => {
    const unknown = `0x${'ab'.repeat(32)}`
    await expect(until.status(world(), unknown, 'finalized', { deadlineMs: 200 })).rejects.toThrow(
      '"status":"not_found"',
    )
    await expect(
      until.status(world(), world().seeds.mainnet!.tx.lost, 'finalized'),
    ).rejects.toThrow('is lost_bid (name_taken), not finalized')
  })
})

describe('the commands', () => {
  it('npm run demo registers from every kind of chain and below both communities, prints the durations, and resolves a name', async () => {
    const options = { env: { ...process.env, CLUSTERD_HOME: inject('home') } }
    const { stdout: out } = await run('npm', ['run', '-s', 'demo'], options)
    for (const step of ['quote', 'sent', 'bridging', 'finalized', 'address', 'price'])
      expect(out, step).toContain(`  ${step} `)
    for (const label of ['1', '8453', 'solana'])
      expect(out, label).toContain(`on network "${label}"`)
    expect(out).toContain('registration fee 0.2 SOL')
    expect(
      out.match(/latency +\d+\.\d\d s from the payment to the name being final on the hub/g),
    ).toHaveLength(2)
    expect(out).toMatch(/club\/member-\S+ for 0x\S+, free/)
    expect(out.match(/ REGISTER_NAME /g)).toHaveLength(3)
    const [, name, holder] = /^(demo-\w+) for (0x\w+) on network "1"$/m.exec(out)!
    expect(out).toContain(`ENS        ${name}.local.eth → ${holder}\n`)
    expect(out.match(/ REGISTER_COMMUNITY_NAME /g)).toHaveLength(2)
  }, 60_000)

  it('replay rebuilds the same state, migrate finds nothing to do', async () => {
    const out = await clusterd('journal', 'replay')
    expect(out).toMatch(/mainnet: [1-9]\d* entries of generation 1, equal/)
    expect(out).toMatch(/testnet: [1-9]\d* entries of generation 1, equal/)
    expect(await clusterd('migrate')).toBe('The database is up to date.\n')
  })

  it('need only the world’s folder, whose .env gives a shell the addresses and keys of stack.json too', async () => {
    expect(await clusterd('doctor')).toMatch(/^\d+ ok, \d+ to check, 0 bad$/m)
    expect(await clusterd('outbox', 'list', '--mainnet')).toContain('spend_cap')
    const script = `set -a && . '${path.join(inject('home'), '.env')}' && env`
    const { stdout } = await run('sh', ['-euc', script])
    const { hub, spokes } = world().networks.mainnet
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        ...[`RPC_URL_1=${hub.rpcUrl}`, `HUB_1=${hub.contracts.hub}`],
        `COMMUNITY_PAYMENTS_8453=${spokes[0]!.contracts.communityPayments}`,
        `PRIVATE_KEY_9=${world().accounts.evm[9]!.privateKey}`,
      ]),
    )
  })
})
