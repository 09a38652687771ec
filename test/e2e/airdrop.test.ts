import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Address, BaseError, decodeErrorResult, type Hex, RawContractError } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { localTokenAbi } from '../../contracts/evm/artifacts/local/LocalToken.js'
import { airdropDistributorAbi } from '../../src/chains/evm/contracts/index.js'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { deployLocalToken } from '../../src/testing/contracts/deploy.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { until } from '../../src/testing/until.js'
import { operatorAccount } from '../../src/testing/world.js'
import { type Member, memberOf } from '../api/members.js'
import { solanaAccount } from '../api/wallets.js'
import { deployDistributor } from '../support/distributor.js'
import { useFolder } from '../support/folder.js'
import { waitForReceipt } from '../support/receipt.js'
import { freshName, freshWallet, hubOf, sendRegistration, world } from '../support/world.js'
import { apiOf } from './sharedApi.js'

const run = promisify(execFile)
const community = freshName('drop')
const strangers = Array.from(
  { length: 30 },
  (_, i) => `0x${(0xabc000 + i).toString(16).padStart(40, '0')}`,
)
const ALICE = 1_000n
const HIDDEN = 2_000n
const SOL = 4_000n

const home = useFolder()
let alice: Member
let hidden: Member
let sol: Member
let payer: PrivateKeyAccount
/** Funded wallets, because an EVM account sends its own claim. */
let wallets: readonly [PrivateKeyAccount, PrivateKeyAccount]
let token: Address

/** Runs the command line against the world. @returns its output and its exit code */
async function clusterd(
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { command, args: own } = await programCommand('cli')
  const { PATH, HOME } = process.env
  const env = {
    PATH,
    HOME,
    DATABASE_URL: world().databaseUrl,
    CLUSTERD_CHAINS: join(home, 'chains.json'),
  }
  return run(command, [...own, 'airdrop', ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

const csv = (...lines: string[]): string => {
  const file = join(home, `${freshName()}.csv`)
  writeFileSync(file, `address,amount\n${lines.join('\n')}\n`)
  return file
}

interface Claim {
  address: string
  claimed: boolean
  reason?: string
  receiver?: string
  sender?: string
  transaction?: { to: Hex; data: Hex; value: string }
}
const ask = async (member: Member, query = '') =>
  (await member.call('GET', `/v1/airdrop/claim/${community}${query}`)).body
async function claimOf(address: string, query = ''): Promise<Claim> {
  const { claims } = (await ask(alice, query)) as { claims: Claim[] }
  return claims.find((claim) => claim.address === address)!
}

const call = ({ transaction }: Claim) => ({
  to: transaction!.to,
  data: transaction!.data,
  value: 0n,
})

/** Sends a claim from its `sender`, else from any account, and waits until the service shows it as confirmed. */
async function send(claim: Claim): Promise<void> {
  const { rpcUrl, chainId, reader } = hubOf()
  const account = wallets.find(({ address }) => address.toLowerCase() === claim.sender) ?? payer
  const hash = await createLocalWalletClient({ rpcUrl, chainId }, account).sendTransaction(
    call(claim),
  )
  expect((await waitForReceipt(reader, hash)).status).toBe('success')
  await expect
    .poll(() => claimOf(claim.address, '?link=true'), { timeout: 30_000, interval: 200 })
    .toMatchObject({ claimed: true, reason: 'claimed', tx: hash })
}

/** Why a transaction would revert. */
async function refusalOf(tx: { to: Hex; data: Hex }, { address } = payer): Promise<string> {
  const error = await hubOf()
    .reader.call({ account: address, ...tx })
    .catch((thrown: unknown) => thrown)
  const raw =
    error instanceof BaseError
      ? error.walk((e) => e instanceof RawContractError || 'data' in (e as object))
      : null
  const data = (raw as { data?: Hex | { data: Hex } } | null)?.data
  return decodeErrorResult({
    abi: airdropDistributorAbi,
    data: typeof data === 'object' ? data.data : data!,
  }).errorName
}

const tokensOf = (account: string) =>
  hubOf().reader.readContract({
    address: token,
    abi: localTokenAbi,
    functionName: 'balanceOf',
    args: [account as Address],
  })

beforeAll(async () => {
  const { rpcUrl, chainId, contracts } = hubOf()
  const chain = {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId,
    rpcUrls: [rpcUrl],
    contract: contracts.hub,
  }
  writeFileSync(join(home, 'chains.json'), JSON.stringify({ chains: [chain] }))
  payer = await freshWallet()
  await until.status(world(), await sendRegistration(payer, [{ name: community }]), 'finalized')
  const owner = await memberOf(apiOf(world()), payer)
  // a community that assigns names may refuse other registrations
  await owner.call('PUT', `/v1/communities/${community}`, { ownersOnly: true })
  wallets = [await freshWallet(), await freshWallet()]
  ;[alice, hidden, sol] = await Promise.all([
    memberOf(apiOf(world()), wallets[0]),
    memberOf(apiOf(world()), wallets[1]),
    memberOf(apiOf(world()), solanaAccount()),
  ])
  const id = await alice.create()
  await alice.call('POST', '/v1/clusters/wallets', [
    { address: hidden.address, name: 'hidden', isPrivate: true },
    { address: sol.address, name: 'sol' },
  ])
  for (const member of [hidden, sol])
    expect((await member.call('POST', `/v1/clusters/verify/${id}`)).status).toBe(200)
})

describe('an airdrop', () => {
  const rows = () => [
    ...[`${alice.address},${ALICE}`, `${hidden.address},${HIDDEN}`, `${sol.address},${SOL}`],
    ...strangers.map((address) => `${address},7`),
  ]

  it('is not loaded from a file with bad rows, and each bad row is reported', async () => {
    const file = csv(...rows(), 'nobody,5', `${alice.address},0`)
    const { code, stderr } = await clusterd('load', file, '--community', community, '--chain', '1')
    expect(code).toBe(1)
    expect(stderr).toContain(`${file}:35 has no address of a wallet that can sign in`)
    expect(stderr).toContain(`${file}:36 has no amount above zero in base units`)
    expect(stderr).toContain(`Nothing is loaded: ${file} has 2 bad lines.`)
    expect(await ask(alice)).toMatchObject({ error: 'not_found' })
  })

  it('is loaded, gets its distributor, and is offered only to the bundle', async () => {
    const loaded = await clusterd(
      'load',
      csv(...rows()),
      '--community',
      community,
      '--chain',
      '1',
      '--json',
    )
    const { merkleRoot, total, accounts } = JSON.parse(loaded.stdout)
    expect([accounts, total]).toEqual([33, String(ALICE + HIDDEN + SOL + 210n)])
    expect(await claimOf(alice.address)).toMatchObject({ claimed: false, reason: 'no_distributor' })

    const { rpcUrl, chainId, reader } = hubOf()
    const client = {
      walletClient: createLocalWalletClient({ rpcUrl, chainId }, payer),
      publicClient: reader,
    }
    token = await deployLocalToken(client)
    const operator = operatorAccount('airdropOperator').address
    const other = await deployDistributor({
      ...client,
      token,
      operator,
      merkleRoot: `0x${'12'.repeat(32)}`,
    })
    const refused = await clusterd('set', community, '--distributor', other.distributor)
    expect(refused.stderr).toContain('pays another tree')
    const deployed = await deployDistributor({
      ...client,
      token,
      operator,
      merkleRoot,
      mints: BigInt(total),
    })
    const from = String(deployed.block)
    const set = await clusterd(
      'set',
      community,
      '--distributor',
      deployed.distributor,
      '--from-block',
      from,
      '--json',
    )
    expect(JSON.parse(set.stdout)).toMatchObject({
      isChanged: true,
      state: 'open',
      token: token.toLowerCase(),
    })

    const stranger = await memberOf(apiOf(world()))
    await stranger.create()
    const nothing = {
      community,
      total: '0',
      totalUnclaimed: '0',
      addresses: [stranger.address],
      claims: [],
    }
    expect(await ask(stranger)).toMatchObject(nothing)
    expect(await ask(alice)).toMatchObject({ total: '7000', totalUnclaimed: '7000' })
  })

  const assign = (member: Member, name: string) =>
    member.call('POST', '/bundles/assign', { community, name })

  it('is claimed on chain once, by the account itself, for no other amount', async () => {
    expect((await assign(alice, 'alice')).body).toMatchObject({ error: 'requirements_not_met' })
    const claim = await claimOf(alice.address)
    // the amount is the third word after the selector
    const data = call(claim).data
    const more = `${data.slice(0, 10 + 128)}${'f'.repeat(64)}${data.slice(10 + 192)}` as Hex
    expect(claim.sender).toBe(alice.address)
    expect(await refusalOf({ ...call(claim), data: more }, wallets[0])).toBe('BadProof')
    expect(await refusalOf(call(claim))).toBe('NotAccount')
    await send(claim)
    expect(await tokensOf(alice.address)).toBe(ALICE)
    expect(await refusalOf(call(claim), wallets[0])).toBe('AlreadyClaimed')
    expect(await ask(hidden)).toMatchObject({ total: '7000', totalUnclaimed: '6000' })
  })

  it('gives the bundle a name below the community after a claim, once', async () => {
    expect((await assign(sol, 'sol')).body).toEqual({ success: true, name: `${community}/sol` })
    expect((await assign(sol, 'sol')).status).toBe(200)
    expect(await assign(hidden, 'hidden')).toMatchObject({
      status: 409,
      body: { error: 'already_assigned' },
    })
    const names = await apiOf(world()).post('/v1/names', [{ name: `${community}/sol` }])
    expect(names.body).toMatchObject([{ address: sol.address, isVerified: true }])
    const stranger = await memberOf(apiOf(world()))
    await stranger.create()
    expect((await assign(stranger, 'stranger')).status).toBe(403)
  })

  it('pays a Solana account once, through any EVM wallet of its bundle', async () => {
    const claim = await claimOf(sol.address)
    expect(claim.receiver).toBe(alice.address)
    const { claims } = (await ask(hidden, '?link=true')) as { claims: Claim[] }
    const elsewhere = claims.find(({ address }) => address === sol.address)!
    expect(elsewhere.receiver).toBe(hidden.address)
    await send(claim)
    expect(await tokensOf(alice.address)).toBe(ALICE + SOL)
    expect(await refusalOf(call(elsewhere))).toBe('AlreadyClaimed')
  })

  it('links a private wallet with others on chain only with link=true', async () => {
    expect(await claimOf(hidden.address)).toMatchObject({
      claimed: false,
      reason: 'private_wallet',
    })
    const claim = await claimOf(hidden.address, '?link=true')
    expect(claim.receiver).toBe(hidden.address)
    await send(claim)
    expect(await tokensOf(hidden.address)).toBe(HIDDEN)
    expect(await ask(alice)).toMatchObject({ total: '7000', totalUnclaimed: '0' })
    const file = csv(...rows(), `0x${'0'.repeat(39)}1,1`)
    const replaced = await clusterd(
      'load',
      file,
      '--community',
      community,
      '--chain',
      '1',
      '--replace',
    )
    expect(replaced.stderr).toContain('are claimed already: it can not be replaced any more')
  })
})
