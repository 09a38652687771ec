import { Connection, Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import { type Hex, parseUnits } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { localTokenAbi } from '../../contracts/evm/artifacts/local/LocalToken.js'
import { communityPaymentsAbi } from '../../src/chains/evm/contracts/index.js'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { until } from '../../src/testing/index.js'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { payQuote } from '../../src/testing/solana/payQuote.js'
import type { SolanaAccount } from '../../src/testing/world.js'
import { type Member, memberOf } from '../api/members.js'
import { solanaAccount } from '../api/wallets.js'
import { waitForReceipt } from '../support/receipt.js'
import { createMint, mintTokens } from '../support/solanaTokens.js'
import {
  ask,
  freshName,
  freshSolanaWallet,
  freshWallet,
  hubOf,
  nameWord,
  sendRegistration,
  spokeOf,
  world,
} from '../support/world.js'
import { apiOf } from './sharedApi.js'

/** Every way to a name below a community, in the shared world, with the requests of a frontend. */

const RECIPIENT = `0x${'55'.repeat(20)}`
const COIN = parseUnits('0.003', 18)
const TOKENS = parseUnits('7', 18)
const SOL_RECIPIENT = Keypair.generate().publicKey.toBase58()
const LAMPORTS = 30_000_000n
const SPL_AMOUNT = 2_500_000n

const cluster = world().networks.mainnet.solana
let owner: Member
let community: string
let mint: string | undefined
let mintAuthority: Keypair

const price = (network: string, token: string, amount: bigint, recipient = RECIPIENT) => ({
  network,
  token,
  amount: amount.toString(),
  recipient,
})

/** A new community for these tests, with a price for each way to pay. */
beforeAll(async () => {
  const account = await freshWallet()
  community = freshName('guild')
  await until.status(world(), await sendRegistration(account, [{ name: community }]), 'finalized')
  owner = await memberOf(apiOf(world()), account)
  const prices = [
    price('1', 'native', COIN),
    price('8453', 'native', COIN),
    price('1', hubOf().contracts.token, TOKENS),
    ...(cluster ? [price('solana', 'native', LAMPORTS, SOL_RECIPIENT), await splPrice()] : []),
  ]
  expect((await configure({ prices })).status).toBe(200)
})

async function splPrice() {
  mintAuthority = keypairOfAccount(await freshSolanaWallet())
  mint = (await createMint(connection(), mintAuthority)).toBase58()
  return price('solana', mint, SPL_AMOUNT, SOL_RECIPIENT)
}

const configure = (rules: object) => owner.call('PUT', `/v1/communities/${community}`, rules)
const connection = () =>
  new Connection(cluster!.rpcUrl, { wsEndpoint: cluster!.wsUrl, commitment: 'confirmed' })

interface Info {
  type: string
  transaction: { to: Hex; data: Hex; value: string }
  approval?: { to: Hex; data: Hex }
}
const register = async (as: Member, name: string, more: object = {}) =>
  (await as.call('POST', `/v1/names/community/${community}/register`, { name, ...more })).body

const chainOf = (label: string) => (label === '1' ? hubOf() : spokeOf(label))

/** Signs and sends a transaction, and waits until it is mined. */
async function send(
  label: string,
  account: PrivateKeyAccount,
  tx: { to: Hex; data: Hex; value?: string },
) {
  const { rpcUrl, chainId, reader } = chainOf(label)
  const call = { to: tx.to, data: tx.data, value: BigInt(tx.value ?? 0) }
  const hash = await createLocalWalletClient({ rpcUrl, chainId }, account).sendTransaction(call)
  expect((await waitForReceipt(reader, hash)).status).toBe('success')
  return hash
}

async function belongsTo(name: string, address: string): Promise<void> {
  const { body } = await ask<{ address: string }[]>('POST', '/v1/names', [
    { name: `${community}/${name}` },
  ])
  expect(body[0]?.address).toBe(
    address.toLowerCase().startsWith('0x') ? address.toLowerCase() : address,
  )
  await until.event(
    world(),
    ({ type, data }) =>
      type === 'REGISTER_COMMUNITY_NAME' && data.community === community && data.name === name,
  )
}

describe.each(['1', '8453'])('a name paid for in the coin of chain %s', (label) => {
  it('belongs to the payer once the payment is confirmed', async () => {
    const account = await freshWallet()
    const name = freshName('m')
    const made = await register(await memberOf(apiOf(world()), account), name, { network: label })
    expect(made.price).toEqual(price(label, 'native', COIN))
    const tx = await send(label, account, (made.transactionInfo as Info).transaction)
    await until.status(world(), tx, 'finalized')
    await belongsTo(name, account.address)
  })
})

describe('a name paid for in a token', () => {
  it('needs an approval first', async () => {
    const account = await freshWallet()
    const name = freshName('m')
    const { token } = hubOf().contracts
    await createLocalWalletClient(hubOf(), account).writeContract({
      address: token,
      abi: localTokenAbi,
      functionName: 'mint',
      args: [account.address, TOKENS],
    })
    await configureFirst('token')
    const made = await register(await memberOf(apiOf(world()), account), name)
    await configureFirst('native')
    const info = made.transactionInfo as Info
    expect(info.transaction.value).toBe('0')
    await send('1', account, info.approval!)
    const tx = await send('1', account, info.transaction)
    await until.status(world(), tx, 'finalized')
    await belongsTo(name, account.address)
  })
})

/** Sets the first price: a request without a token uses the first price of its network. */
async function configureFirst(kind: 'native' | 'token'): Promise<void> {
  const { body } = await ask<{ prices: { token: string }[] }>('GET', `/v1/communities/${community}`)
  const isWanted = ({ token }: { token: string }) => (token === 'native') === (kind === 'native')
  const prices = [...body.prices].sort((a, b) => Number(isWanted(b)) - Number(isWanted(a)))
  expect((await configure({ prices })).status).toBe(200)
}

if (cluster)
  describe('a name paid for on Solana', () => {
    const quote = async (wallet: SolanaAccount, name: string): Promise<string> => {
      const account = solanaAccount(bs58.decode(wallet.secretKey).subarray(0, 32))
      const made = await register(await memberOf(apiOf(world()), account), name, {
        network: 'solana',
      })
      expect(made.transactionInfo.type).toBe('solana')
      return made.transactionInfo.transaction.data
    }
    const join = async (wallet: SolanaAccount, name: string) =>
      payQuote(cluster, wallet, await quote(wallet, name))

    it('in SOL', async () => {
      const wallet = await freshSolanaWallet()
      const name = freshName('m')
      await until.status(world(), await join(wallet, name), 'finalized')
      await belongsTo(name, wallet.address)
    })

    it('in SPL tokens', async () => {
      const wallet = await freshSolanaWallet()
      const name = freshName('m')
      const key = keypairOfAccount(wallet)
      const { PublicKey } = await import('@solana/web3.js')
      await mintTokens(connection(), mintAuthority, {
        mint: new PublicKey(mint!),
        owner: key.publicKey,
        amount: SPL_AMOUNT,
      })
      await configureFirst('token')
      const tx = await join(wallet, name)
      await configureFirst('native')
      await until.status(world(), tx, 'finalized')
      await belongsTo(name, wallet.address)
    })

    it('is refunded when somebody on another chain was first', async () => {
      const first = await freshWallet()
      const second = await freshSolanaWallet()
      const name = freshName('m')
      const late = await quote(second, name)
      const paid = await register(await memberOf(apiOf(world()), first), name)
      await until.status(
        world(),
        await send('1', first, (paid.transactionInfo as Info).transaction),
        'finalized',
      )
      const { publicKey } = keypairOfAccount(second)
      const before = await connection().getBalance(publicKey)
      const tx = await payQuote(cluster, second, late)
      await until.status(world(), tx, 'lost_bid')
      const refund = async () =>
        (await ask<{ refund: string }>('GET', `/v1/names/register/tx/${tx}`)).body.refund
      await expect.poll(refund, { timeout: 30_000, interval: 200 }).toBe('refused')
      // the whole price, except the fee and the rent of the name's account
      expect(await connection().getBalance(publicKey)).toBeGreaterThan(
        before - Number(LAMPORTS) / 2,
      )
      await belongsTo(name, first.address)
    })

    it('is lost and refunded when somebody has it already', async () => {
      const first = await freshSolanaWallet()
      const second = await freshWallet()
      const name = freshName('m')
      const late = await register(await memberOf(apiOf(world()), second), name)
      await until.status(world(), await join(first, name), 'finalized')
      const tx = await send('1', second, (late.transactionInfo as Info).transaction)
      await until.status(world(), tx, 'lost_bid')
      await creditOf(second.address, COIN)
      await belongsTo(name, first.address)
    })
  })

/**
 * Waits until the payments contract of the hub owes an address an amount, which means that the relayer has refused
 * the payment.
 */
async function creditOf(address: Hex, amount: bigint): Promise<void> {
  const { reader, contracts } = hubOf()
  const credit = () =>
    reader.readContract({
      address: contracts.communityPayments,
      abi: communityPaymentsAbi,
      functionName: 'creditOf',
      args: [address, `0x${'00'.repeat(20)}`],
    })
  await expect.poll(credit, { timeout: 30_000, interval: 200 }).toBe(amount)
}

describe('a payment that buys nothing', () => {
  const pay = async (account: PrivateKeyAccount, name: string, amount: bigint, below = community) =>
    createLocalWalletClient(hubOf(), account).writeContract({
      address: hubOf().contracts.communityPayments,
      abi: communityPaymentsAbi,
      functionName: 'placeBid',
      args: [
        {
          token: `0x${'00'.repeat(20)}`,
          amount,
          paymentRecipient: RECIPIENT as Hex,
          communityName: nameWord(below),
          walletName: nameWord(name),
          referralAddress: nameWord('x'),
        },
      ],
      value: amount,
    })

  it('is invalid with a reason, and its payer can take it back', async () => {
    const account = await freshWallet()
    const tx = await pay(account, freshName('m'), COIN - 1n)
    expect(await until.status(world(), tx, 'invalid')).toMatchObject({ reason: 'underpaid' })
    await creditOf(account.address, COIN - 1n)
    const { rpcUrl, chainId, reader, contracts } = hubOf()
    const before = await reader.getBalance({ address: RECIPIENT as Hex })
    const hash = await createLocalWalletClient({ rpcUrl, chainId }, account).writeContract({
      address: contracts.communityPayments,
      abi: communityPaymentsAbi,
      functionName: 'withdraw',
      args: [`0x${'00'.repeat(20)}`, account.address],
    })
    expect((await waitForReceipt(reader, hash)).status).toBe('success')
    expect(await reader.getBalance({ address: RECIPIENT as Hex })).toBe(before)
  })

  it('is invalid below a name without a community', async () => {
    const account = await freshWallet()
    const tx = await pay(account, freshName('m'), COIN, freshName('nobody'))
    expect(await until.status(world(), tx, 'invalid')).toMatchObject({ reason: 'not_found' })
    const { body } = await ask<{ status: string }>('GET', `/v0.1/register/tx/${tx}`)
    expect(body.status).toBe('invalid')
  })
})

describe('a free community', () => {
  const club = () => world().seeds.mainnet!.communities!.open.name

  it.each([
    { name: 'an EVM wallet', accountOf: freshWallet },
    { name: 'a Solana wallet', accountOf: solanaAccount },
  ])('gives names to $name', async ({ accountOf }) => {
    const member = await memberOf(apiOf(world()), await accountOf())
    const name = freshName('m')
    const { body } = await member.call('POST', `/v1/names/community/${club()}/register`, { name })
    expect(body).toEqual({ clusterName: `${club()}/${name}`, owner: member.address })
  })

  it('with ownersOnly gives names only through its owners', async () => {
    const before = (await ask<object>('GET', `/v1/communities/${community}`)).body
    await configure({ ownersOnly: true })
    const stranger = await memberOf(apiOf(world()), await freshWallet())
    const name = freshName('m')
    expect(await register(stranger, name)).toMatchObject({ error: 'not_verified' })
    expect(await register(owner, name, { walletAddress: stranger.address })).toMatchObject({
      owner: stranger.address,
    })
    await belongsTo(name, stranger.address)
    const { name: _name, ...rules } = before as { name: string }
    expect((await configure(rules)).status).toBe(200)
  })

  it('with a token requirement gives names to holders of the token', async () => {
    const before = (await ask<object>('GET', `/v1/communities/${community}`)).body
    const { token } = hubOf().contracts
    await configure({ requirements: [{ kind: 'token', network: '1', token, minimum: '5' }] })
    const account = await freshWallet()
    const name = freshName('m')
    const holder = await memberOf(apiOf(world()), account)
    expect(await register(holder, name)).toMatchObject({ error: 'requirements_not_met' })
    const hash = await createLocalWalletClient(hubOf(), account).writeContract({
      address: token,
      abi: localTokenAbi,
      functionName: 'mint',
      args: [account.address, 5n],
    })
    await waitForReceipt(hubOf().reader, hash)
    expect(await register(holder, name)).toMatchObject({ owner: holder.address })
    const { name: _name, ...rules } = before as { name: string }
    expect((await configure(rules)).status).toBe(200)
  })
})
