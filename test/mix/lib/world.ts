import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { SampleData } from '../../../src/api/http/sampleRequests.js'
import { encodePlaceBidsCalldata } from '../../../src/chains/evm/bridge/calls.js'
import { createLocalWalletClient } from '../../../src/testing/chains/localClients.js'
import { createDatabase, type Stack, startStack, until } from '../../../src/testing/index.js'
import { memberOf } from '../../api/members.js'
import { solanaAccount } from '../../api/wallets.js'
import { apiOf } from '../../e2e/sharedApi.js'
import { runCli } from '../../support/cli.js'
import { type ClusterdProcess, startClusterd } from '../../support/clusterdProcess.js'
import { callOf, lookupOf } from '../../support/ens.js'
import { bodyOf, serve } from '../../support/httpServer.js'
import { LOCAL_LOG_KEY } from '../../support/logKey.js'
import { waitForReceipt } from '../../support/receipt.js'
import { freshName, freshWallet, hubOf } from '../../support/world.js'
import { fill, type Scene } from '../../upgrade/fill.js'

/** A local world in which every state occurs, with the processes that a mix needs. */

export const CHAINS = ['1', '8453', '11155111'] as const
const BLOCK_MS = 100
const UNBOUNDED = '1000000/1000000'
/** Of the process under test and of the quiet one: limits that count, and refuse nobody. */
const SETTINGS = {
  LOG_FORMAT: 'json',
  // links in answers
  SITE_URL: 'https://names.example',
  TRUST_PROXY: '1',
  WEBHOOKS_PRIVATE: 'true',
  LIMITS: 'on',
  LIMIT_ADDRESS: UNBOUNDED,
  LIMIT_KEY: UNBOUNDED,
  LIMIT_CHANGES_MINUTE: '1000000',
  LIMIT_CHANGES_DAY: '1000000',
  LIMIT_CLUSTERS_DAY: '1000000',
  LIMIT_NAMES_DAY: '1000000',
  LIMIT_KEYS_DAY: '1000000',
}
/** Connections of the process under test: so few that each of them sees most statements. */
const CONNECTIONS = '4'
const NAMES = 300
const NAMES_A_TX = 50
const BID_WEI = 10_000_000_000_000_000n
const BID_GAS = 300_000n
const WALLETS = 100

export interface MixWorld {
  stack: Stack<'mainnet' | 'testnet'>
  /** The process under test, which also indexes and relays. */
  busy: { api: string; log(): string }
  /** A process that answers the requests of comparisons, and nobody else's. */
  quiet: ClusterdProcess
  /** A mirror that copies the feed of the process under test. */
  mirror: ClusterdProcess
  scene: Scene
  /** Data of the declared requests: the owner of 300 names. */
  sample: SampleData
  /** Headers with the keys of `sample.owner` and `sample.other`. */
  keys: Readonly<Record<'owner' | 'other', Readonly<Record<string, string>>>>
  apiKey: string
  stop(): Promise<void>
}

/** Starts and fills a world. It takes about twenty seconds on two processors. */
export async function startMixWorld(log: (line: string) => void): Promise<MixWorld> {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-mix-'))
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close()
    rmSync(home, { recursive: true, force: true })
  }
  try {
    const hook = await serve(async (request, response) => {
      await bodyOf(request)
      response.end('{}')
    })
    closers.push(() => hook.stop())
    const stack = await startStack({
      home,
      chains: CHAINS,
      solana: true,
      blockMs: BLOCK_MS,
      daemonEnv: { ...SETTINGS, DATABASE_POOL: CONNECTIONS },
    })
    closers.push(() => stack.stop())
    log('the chains and the daemon run')
    const env = { ...readEnv(home), ...SETTINGS }
    const quiet = await startClusterd({ ...env, ROLES: 'api' })
    closers.push(() => quiet.end())
    const mirror = await startMirror(stack)
    closers.push(() => mirror.end())
    const [scene, owner] = await Promise.all([
      fill({ home, world: stack.world, cli: (...args) => runCli(args, env) }, `${hook.url}/hook`),
      openOwner(stack),
      quiet.ready(),
      mirror.ready(),
    ])
    log('the world is filled')
    return {
      stack,
      busy: { api: stack.api, log: () => stack.daemon.logs() },
      quiet,
      mirror,
      scene,
      ...owner,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The environment of a world's daemon. */
const readEnv = (home: string) =>
  parseEnv(readFileSync(join(home, '.env'), 'utf8')) as Record<string, string>

async function startMirror(stack: Stack): Promise<ClusterdProcess> {
  const server = Object.assign(new URL(stack.databaseUrl), { pathname: '/postgres' }).href
  const env = {
    DATABASE_URL: await createDatabase(server, 'mirror'),
    CLUSTERD_CHAINS: join(stack.home, 'nowhere.json'),
    LOG_FORMAT: 'json',
    LIMITS: 'off',
    DRAIN_SECONDS: '0',
    MIRROR_URL: stack.api,
    MIRROR_KEY: LOCAL_LOG_KEY,
  }
  return startClusterd(env, { command: 'mirror' })
}

/** A wallet with 300 names, in a cluster of 100 wallets to which another wallet has moved with its name. */
async function openOwner({ world }: Stack): Promise<Pick<MixWorld, 'sample' | 'keys' | 'apiKey'>> {
  const api = apiOf(world)
  const [account, mover] = await Promise.all([
    freshWallet('mainnet', world),
    freshWallet('mainnet', world),
  ])
  const held = Array.from({ length: NAMES }, () => freshName())
  await Promise.all([bidFor(world, mover, [freshName('moved')]), bidFor(world, account, held)])
  const [owner, joining, other] = await Promise.all([
    memberOf(api, account),
    memberOf(api, mover),
    memberOf(api),
  ])
  const wallets = Array.from({ length: WALLETS - 1 }, (_, i) => ({
    address: addressOf(i),
    name: `w-${i}`,
  }))
  const call = async (by: typeof owner, method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await by.call(method, path, body)
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }
  await call(owner, 'POST', '/v1/clusters/wallets', [
    { address: joining.address, name: 'mover' },
    ...wallets,
  ])
  const { clusterId } = await call(owner, 'GET', `/v1/clusters/address/${owner.address}`)
  await call(joining, 'POST', `/v1/clusters/verify/${clusterId}`)
  const [name = '', community = ''] = held
  await call(owner, 'PUT', `/v1/communities/${community}`, {})
  const { key } = await call(owner, 'POST', '/v1/keys', { name: 'mix' })
  const { parent } = world.networks.mainnet!.ens
  let used = 0
  const solana = Array.from({ length: 1_000 }, () => solanaAccount().address)
  const sample: SampleData = {
    name,
    walletName: 'mover',
    held,
    owner: owner.address,
    clusterId,
    community,
    other: other.address,
    ensCall: () => lookupOf(`mover.${name}.${parent}`, callOf('addr(bytes32)')),
    freshName: () => freshName(),
    evmAddress: () => addressOf(1_000 + used++),
    solanaAddress: () => solana[used++ % solana.length]!,
    cosmosAddress: () => solana[used++ % solana.length]!,
    wrongProof: () => ({
      signature: `0x${'ab'.repeat(64)}`,
      signingDate: new Date().toISOString(),
      type: 'solana',
      wallet: solana[0],
    }),
  }
  return { sample, keys: { owner: owner.headers, other: other.headers }, apiKey: key }
}

const addressOf = (i: number) => `0x${(0x77_0000 + i).toString(16).padStart(40, '0')}`

/** Registers names on the hub, as many a transaction as fit, and waits until all have an owner. */
async function bidFor(
  world: Stack['world'],
  account: PrivateKeyAccount,
  names: readonly string[],
): Promise<void> {
  const hub = hubOf('mainnet', world)
  const wallet = createLocalWalletClient(hub, account)
  let hash: `0x${string}` = '0x'
  for (let i = 0; i < names.length; i += NAMES_A_TX) {
    const bids = names.slice(i, i + NAMES_A_TX).map((name) => ({ name, amountWei: BID_WEI }))
    hash = await wallet.sendTransaction({
      to: hub.contracts.hub,
      data: encodePlaceBidsCalldata(bids, null),
      value: BID_WEI * BigInt(bids.length),
      gas: BID_GAS + 100_000n * BigInt(bids.length),
    })
    await waitForReceipt(hub.reader, hash)
  }
  await until.status(world, hash, 'finalized')
}
