import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import bs58 from 'bs58'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { localTokenAbi } from '../../contracts/evm/artifacts/local/LocalToken.js'
import type { StatusWord } from '../../src/client/types.js'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { payQuote } from '../../src/testing/solana/payQuote.js'
import { until } from '../../src/testing/until.js'
import { operatorAccount, type SolanaAccount, type World } from '../../src/testing/world.js'
import { type Member, memberOf } from '../api/members.js'
import { MINIMUM_WEI } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { apiOf } from '../e2e/sharedApi.js'
import { deployBatch, runBatch } from '../support/batch.js'
import { placeBids } from '../support/bridgeWorld.js'
import { deployDistributor } from '../support/distributor.js'
import { waitForReceipt } from '../support/receipt.js'
import {
  freshWallet,
  hubOf,
  type Quote,
  quoteOn,
  registerOn,
  sendQuoted,
  spokeOf,
} from '../support/world.js'

/** What visitors and the operator did before the upgrade. test/mix fills a world of this build with it. */

/** The parts of a world that are filled, of this build or of an earlier one. */
export interface FilledWorld {
  home: string
  world: World<'mainnet' | 'testnet'>
  /** Runs a command of `clusterd`. @returns its output */
  cli(...args: string[]): string | Promise<string>
}

/** How long claims are taken: nearly as long as a distributor may, since answers change at its end. */
const CLAIMS_S = 1_800n * 86_400n
const BID_WEI = '20000000000000000'
const TESTNET = '?testnet=true'
/** Names of one transaction: more than a quote may have. */
const MANY_NAMES = 120
const MOVED_NAMES = 12
/** A wallet that is listed, and can not sign in here. */
const LISTED = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'

/** Identifiers by which requests after the upgrade name what was made before. */
export interface Scene {
  /** Addresses by the role of their wallet. */
  addresses: Record<string, string>
  /** Transactions by what they did. */
  transactions: Record<string, { tx: string; testnet?: boolean }>
  clusterId: string
  /** Authentication keys by the role of their wallet. */
  sessions: Record<string, string>
  generated: { address: string; share: string }
  webhookKey: string
  /** Id of an API key of `alice`. */
  keyId: string
}

/**
 * @param hook URL of the receiver of webhooks
 * @param settle releases all payments, and waits until there is nothing left to do. Without it, the parts of the world
 * that only a recording needs are left out
 */
export async function fill(
  old: FilledWorld,
  hook: string,
  settle?: () => Promise<void>,
): Promise<Scene> {
  return new Filling(old).run(hook, settle)
}

class Filling {
  readonly #old: FilledWorld
  readonly #accounts: PrivateKeyAccount[]
  readonly #transactions: Scene['transactions'] = {}

  constructor(old: FilledWorld) {
    this.#old = old
    this.#accounts = old.world.accounts.evm.map(({ privateKey }) => privateKeyToAccount(privateKey))
  }

  async run(hook: string, settle?: () => Promise<void>): Promise<Scene> {
    const added = await this.#old.cli('webhooks', 'add', hook, '--since', 'start', '--json')
    const { key: webhookKey } = JSON.parse(added) as { key: string }
    const { finalized, lost, bridging } = this.#old.world.seeds.mainnet!.tx
    Object.assign(this.#transactions, {
      seed: { tx: finalized },
      lost: { tx: lost },
      parked: { tx: bridging! },
    })
    await this.#register()
    const { members, clusterId, generated, keyId } = await this.#cluster()
    await Promise.all([this.#communities(members), this.#airdrop(members), this.#testnet()])
    const recorded = settle ? await this.#forRecording(members, settle) : {}
    const roles = Object.entries({ ...members, ...recorded })
    return {
      addresses: {
        ...Object.fromEntries(roles.map(([role, { address }]) => [role, address])),
        seed: this.#old.world.seeds.mainnet!.owner,
        sunny: this.#solana(0).address,
      },
      transactions: this.#transactions,
      clusterId,
      sessions: Object.fromEntries(roles.map(([role, { headers }]) => [role, bearerOf(headers)])),
      generated,
      webhookKey,
      keyId,
    }
  }

  /** Names on the hub, from a spoke and from Solana, by every route; a bid that is lost on its way. */
  async #register(): Promise<void> {
    await Promise.all([this.#onHub(), this.#onSpoke(), this.#onSolana()])
  }

  async #onHub(): Promise<void> {
    const { world } = this.#old
    const account = this.#accounts[1]!
    const two = [{ name: 'alice' }, { name: 'alice-two', amountWei: BID_WEI }]
    await this.#settled('hub', await registerOn('1', account, two, world))
    const oldForm = await this.#ask<Quote>('POST', '/v0.1/register', {
      network: '1',
      sender: account.address,
      names: [{ name: 'old-way' }],
    })
    await this.#settled('v0.1', await sendQuoted('1', account, oldForm, world))
    const late = await quoteOn('8453', this.#accounts[5]!.address, [{ name: 'contested' }], world)
    const early = await registerOn('1', account, [{ name: 'contested' }], world)
    await this.#settled('contested', early)
    const beaten = await sendQuoted('8453', this.#accounts[5]!, late, world)
    await this.#settled('beaten', beaten, 'lost_bid')
  }

  async #onSpoke(): Promise<void> {
    const { world } = this.#old
    const traveller = await registerOn('8453', this.#accounts[4]!, [{ name: 'traveller' }], world)
    await this.#settled('spoke', traveller)
  }

  async #onSolana(): Promise<void> {
    const payer = this.#solana(0)
    const quote = await this.#ask<{ transactionData: string[] }>(
      'POST',
      '/v1/names/register/solana',
      { network: 'solana', sender: payer.address, names: [{ name: 'sunny' }] },
    )
    const { solana } = this.#old.world.networks.mainnet
    const paid = await payQuote(solana!, payer, quote.transactionData[0]!)
    await this.#settled('solana', paid)
  }

  /** A bundle with public and private wallets of several kinds, and a generated one. */
  async #cluster() {
    const members = {
      alice: await this.#member(this.#accounts[1]!),
      hot: await this.#member(this.#accounts[2]!),
      cold: await this.#member(this.#accounts[3]!),
      stranger: await this.#member(this.#accounts[6]!),
      sol: await this.#member(signerOf(this.#solana(3))),
      payer: await this.#member(this.#accounts[7]!),
      chair: await this.#member(this.#accounts[8]!),
      traveller: await this.#member(this.#accounts[4]!),
      loser: await this.#member(this.#accounts[5]!),
    }
    const { alice, hot, cold, sol, stranger } = members
    const added = await alice.call('POST', '/v1/clusters/wallets', [
      { address: hot.address, name: 'hot' },
      { address: cold.address, name: 'cold', isPrivate: true },
      { address: sol.address, name: 'sol' },
      { address: LISTED, name: 'coins' },
      { address: `0x${'ab'.repeat(20)}`, name: 'gone' },
    ])
    succeed(added)
    const clusterId = succeed<{ clusterId: string }>(
      await alice.call('GET', `/v1/clusters/address/${alice.address}`),
    ).clusterId
    for (const member of [hot, cold, sol])
      succeed(await member.call('POST', `/v1/clusters/verify/${clusterId}`))
    const renamed = [{ address: hot.address, name: 'daily' }]
    succeed(await alice.call('PUT', '/v1/clusters/wallets/names', renamed))
    succeed(await alice.call('DELETE', '/v1/clusters/wallets', [`0x${'ab'.repeat(20)}`]))
    const wanted = { type: 'evm', name: 'made', isPrivate: true }
    const generated = succeed<Scene['generated']>(
      await alice.call('POST', '/v1/clusters/generate/wallet', wanted),
    )
    const { address } = generated
    succeed(await alice.call('POST', '/v1/clusters/generate/wallet/confirm', { address }))
    const key = { name: 'my site' }
    const { id: keyId } = succeed<{ id: string }>(await alice.call('POST', '/v1/keys', key))
    succeed(await stranger.call('POST', '/v1/bundle'))
    return { members, clusterId, generated, keyId }
  }

  /** Names below communities: free, paid on every kind of chain, and a payment that is refused. */
  async #communities(members: Record<string, Member>): Promise<void> {
    const { open, paid } = this.#old.world.seeds.mainnet!.communities!
    const { stranger, payer, sol, chair } = members
    await this.#below(stranger!, open.name, { name: 'member' })
    await this.#below(sol!, open.name, { name: 'bright' })
    const onHub = await this.#below(stranger!, paid.name, { name: 'near', network: '1' })
    await this.#settled('paid', await this.#send('1', 6, onHub))
    const onSpoke = await this.#below(payer!, paid.name, { name: 'far', network: '8453' })
    await this.#settled('paid from a spoke', await this.#send('8453', 7, onSpoke))
    const onSolana = await this.#below(sol!, paid.name, { name: 'warm', network: 'solana' })
    const { data } = onSolana.transactionInfo!.transaction
    const { solana } = this.#old.world.networks.mainnet
    const inSol = await payQuote(solana!, this.#solana(3), data)
    await this.#settled('paid on Solana', inSol)

    const { token } = hubOf('mainnet', this.#old.world).contracts
    await this.#settled(
      'vip',
      await registerOn('1', this.#accounts[8]!, [{ name: 'vip' }], this.#old.world),
    )
    const prices = [{ network: '1', token, amount: '7', recipient: this.#address(8) }]
    const allowed = { kind: 'allowlist', addresses: [payer!.address, stranger!.address] }
    const set = (rules: object) => chair!.call('PUT', '/v1/communities/vip', rules)
    succeed(await set({ prices, requirements: [allowed] }))
    const { transactionInfo: inToken } = await this.#payInToken(payer!, 7, 'guest')
    await this.#settled('paid in a token', await this.#sendCall('1', 7, inToken!.transaction))
    const { transactionInfo: refused } = await this.#payInToken(stranger!, 6, 'other')
    succeed(await set({ prices, requirements: [{ ...allowed, addresses: [payer!.address] }] }))
    const tx = await this.#sendCall('1', 6, refused!.transaction)
    await this.#settled('refused', tx, 'invalid')
  }

  /** Asks for a name below `vip`, with tokens and an allowance. */
  async #payInToken(member: Member, index: number, name: string) {
    const hub = hubOf('mainnet', this.#old.world)
    const minted = await createLocalWalletClient(hub, this.#accounts[index]!).writeContract({
      address: hub.contracts.token,
      abi: localTokenAbi,
      functionName: 'mint',
      args: [this.#accounts[index]!.address, 7n],
    })
    await waitForReceipt(hub.reader, minted)
    const made = await this.#below(member, 'vip', { name, network: '1' })
    await this.#sendCall('1', index, made.transactionInfo!.approval!)
    return made
  }

  /** An airdrop with a claim, an allocation that nobody has claimed, and a name that was assigned for the claim. */
  async #airdrop({ alice, hot, sol, chair }: Record<string, Member>): Promise<void> {
    const { world, home } = this.#old
    await this.#settled(
      'drop',
      await registerOn('1', this.#accounts[9]!, [{ name: 'drop' }], world),
    )
    const owner = await this.#member(this.#accounts[9]!)
    succeed(await owner.call('PUT', '/v1/communities/drop', { ownersOnly: true }))
    const file = join(home, 'drop.csv')
    const rows = [`${alice!.address},1000`, `${hot!.address},2000`, `${sol!.address},4000`]
    rows.push(`${chair!.address},500`)
    writeFileSync(file, `address,amount\n${rows.join('\n')}\n`)
    const load = ['airdrop', 'load', file, '--community', 'drop', '--chain', '1', '--json']
    const { merkleRoot, total } = JSON.parse(await this.#old.cli(...load)) as {
      merkleRoot: Hex
      total: string
    }
    const hub = hubOf('mainnet', world)
    const { distributor, block } = await deployDistributor({
      walletClient: createLocalWalletClient(hub, this.#accounts[9]!),
      publicClient: hub.reader,
      token: hub.contracts.token,
      operator: operatorAccount('airdropOperator').address,
      merkleRoot,
      endsAtS: (await hub.reader.getBlock()).timestamp + CLAIMS_S,
      mints: BigInt(total),
    })
    const from = String(block)
    await this.#old.cli(
      'airdrop',
      'set',
      'drop',
      '--distributor',
      distributor,
      '--from-block',
      from,
    )
    await this.#claim(alice!, 1)
    // a claim for which no name is assigned yet
    await this.#claim(chair!, 8)
    succeed(await alice!.call('POST', '/bundles/assign', { community: 'drop', name: 'alice' }))
  }

  async #claim(member: Member, index: number): Promise<void> {
    const own = async () => {
      const answer = await member.call('GET', '/v1/airdrop/claim/drop')
      const { claims } = succeed<{ claims: Claim[] }>(answer)
      return claims.find(({ address }) => address === member.address)
    }
    await wait('the distributor is known', async () => (await own())?.transaction)
    await this.#sendCall('1', index, (await own())!.transaction!)
    await wait('the claim is confirmed', async () => (await own())?.claimed)
  }

  async #testnet(): Promise<void> {
    const { world } = this.#old
    const tx = await registerOn('11155111', this.#accounts[1]!, [{ name: 'alice' }], world)
    await until.status(world, tx, 'finalized', { testnet: true })
    this.#transactions.testnet = { tx, testnet: true }
    const member = await this.#member(this.#accounts[1]!)
    const body = { clusterName: 'club', walletName: 'tester' }
    succeed(await member.call('POST', `/v0.1/community/register${TESTNET}`, body))
  }

  /** A transaction of a smart wallet with more names than a status lists. */
  async #manyNames(): Promise<void> {
    const { world } = this.#old
    const hub = hubOf('mainnet', world)
    const account = this.#accounts[2]!
    const batch = await deployBatch(hub, account)
    const names = Array.from({ length: MANY_NAMES }, (_, n) => `many-${n + 1}`)
    const halves = [names.slice(0, MANY_NAMES / 2), names.slice(MANY_NAMES / 2)]
    const calls = halves.map((half) => ({
      to: hub.contracts.hub,
      value: MINIMUM_WEI * BigInt(half.length),
      data: placeBids(half),
    }))
    await this.#settled('many names', await runBatch(hub, account, batch, calls))
  }

  /** What takes long, or has to happen after everything else. @returns further members */
  async #forRecording(
    members: Record<string, Member>,
    settle: () => Promise<void>,
  ): Promise<Record<string, Member>> {
    await this.#manyNames()
    const mover = await this.#movedNames(members)
    await settle()
    await this.#heldPayments(members)
    return { mover }
  }

  /** A wallet enters the bundle of another one, and its names move there. */
  async #movedNames({ traveller }: Record<string, Member>): Promise<Member> {
    const { world } = this.#old
    const account = await freshWallet('mainnet', world)
    const names = Array.from({ length: MOVED_NAMES }, (_, n) => ({ name: `moved-${n + 1}` }))
    await this.#settled('moved', await registerOn('1', account, names, world))
    const mover = await this.#member(account)
    const invited = [{ address: mover.address, name: 'mover' }]
    succeed(await traveller!.call('POST', '/v1/clusters/wallets', invited))
    const { clusterId } = succeed<{ clusterId: string }>(
      await traveller!.call('GET', `/v1/clusters/address/${traveller!.address}`),
    )
    succeed(await mover.call('POST', `/v1/clusters/verify/${clusterId}`))
    return mover
  }

  /** Payments for community names that the contracts still hold, on every kind of chain. */
  async #heldPayments({ payer, stranger, sol }: Record<string, Member>): Promise<void> {
    const { paid } = this.#old.world.seeds.mainnet!.communities!
    const onHub = await this.#below(stranger!, paid.name, { name: 'held', network: '1' })
    await this.#settled('held', await this.#send('1', 6, onHub))
    const onSpoke = await this.#below(payer!, paid.name, { name: 'held-far', network: '8453' })
    await this.#settled('held on a spoke', await this.#send('8453', 7, onSpoke))
    const onSolana = await this.#below(sol!, paid.name, { name: 'held-warm', network: 'solana' })
    const { data } = onSolana.transactionInfo!.transaction
    const { solana } = this.#old.world.networks.mainnet
    await this.#settled('held on Solana', await payQuote(solana!, this.#solana(3), data))
  }

  // ---- shared

  #address = (index: number) => this.#accounts[index]!.address.toLowerCase()
  #solana = (index: number) => this.#old.world.accounts.solana[index]!
  #member = (account: Parameters<typeof memberOf>[1]) => memberOf(apiOf(this.#old.world), account)

  async #ask<Body>(method: string, path: string, body: unknown): Promise<Body> {
    const init = { method, body: JSON.stringify(body) }
    return succeed<Body>(await apiOf(this.#old.world).request(path, init))
  }

  async #below(member: Member, community: string, body: object): Promise<Below> {
    return succeed(await member.call('POST', `/v1/names/community/${community}/register`, body))
  }

  #send = (label: string, index: number, { transactionInfo }: Below) =>
    this.#sendCall(label, index, transactionInfo!.transaction)

  #sendCall = (label: string, index: number, call: Call) =>
    this.#sendFrom(this.#accounts[index]!, label, call)

  async #sendFrom(
    account: PrivateKeyAccount,
    label: string,
    { to, data, value = '0' }: Call,
  ): Promise<Hex> {
    const { world } = this.#old
    const chain = label === '1' ? hubOf('mainnet', world) : spokeOf(label, world)
    const wallet = createLocalWalletClient(chain, account)
    const hash = await wallet.sendTransaction({ to, data, value: BigInt(value) })
    const { status } = await waitForReceipt(chain.reader, hash)
    if (status !== 'success') throw new Error(`${hash} on ${label} is ${status}`)
    return hash
  }

  async #settled(what: string, tx: string, status: StatusWord = 'finalized'): Promise<void> {
    await until.status(this.#old.world, tx, status, { deadlineMs: 60_000 })
    this.#transactions[what] = { tx }
  }
}

interface Call {
  to: Hex
  data: Hex
  value?: string
}
interface Below {
  transactionInfo?: { transaction: Call; approval?: Call }
}
interface Claim {
  address: string
  claimed: boolean
  transaction?: Call
}

const bearerOf = (headers: Record<string, string>) => headers.authorization!.replace('Bearer ', '')

const signerOf = ({ secretKey }: SolanaAccount) =>
  solanaAccount(bs58.decode(secretKey).subarray(0, 32))

/** The body of a 200. */
function succeed<Body>({ status, body }: { status: number; body: unknown }): Body {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as Body
}

const WAIT_MS = 30_000

/** Waits until a value is neither undefined nor false. */
export async function wait(what: string, poll: () => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  while (!(await poll())) {
    if (performance.now() > endMs) throw new Error(`waited too long until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
