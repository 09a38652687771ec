import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { createServer, type Server } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import type pg from 'pg'
import { type Logger, pino } from 'pino'
import { afterAll, beforeAll, expect } from 'vitest'
import type { LimitSettings } from '../../src/api/limits/gate.js'
import { type Api, type ApiDeps, createApi } from '../../src/api/server.js'
import type { ChainPort, Hex } from '../../src/chains/chain.js'
import { createClaimPermissionSigner } from '../../src/chains/evm/airdrop/distributor.js'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { type ChainConfig, parseChainsFile } from '../../src/config/index.js'
import { registerChain } from '../../src/db/chains/chains.js'
import { type StoredUnconfirmedBlock, writeUnconfirmedBlocks } from '../../src/db/chains/tail.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { createListener, notifyBlock, notifyNetwork } from '../../src/db/pg/notify.js'
import { inPipeline } from '../../src/db/pg/pipeline.js'
import { createPool, inTransaction } from '../../src/db/pg/pool.js'
import { WorkerLoops } from '../../src/ops/loops.js'
import { ChangeNotifications } from '../../src/push/changeNotifications.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { addressToWord, parseAddress } from '../../src/registry/primitives/address.js'
import { bigIntToWord, fromHex, txKeyOfHash } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { NETWORK_CODE, type Network } from '../../src/registry/primitives/network.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import type { Postgres } from '../../src/testing/processes/postgres.js'
import { expectDeclaredError } from '../support/declaredErrors.js'
import { startMigrated } from '../support/migrated.js'
import { asWrongRole } from '../support/wrongRole.js'

/** A log that collects its lines. */
export const logInto = (lines: string[]): Logger =>
  pino({ level: 'trace' }, { write: (line) => void lines.push(line) })

/** Token key of all worlds, so that a key of one world is valid in the others. */
const TOKEN_KEY = Buffer.alloc(32, 7)

/** Bucket of a rate limit that does not refill during a test. */
export const stillBucket = (burst: number) => ({ perSecond: 1e-6, burst })

/** Rate limits of `burst` units for each address and key. No other limit is reached, unless it is given. */
export const limitsOf = (burst: number, others: Partial<LimitSettings> = {}): LimitSettings => ({
  address: stillBucket(burst),
  key: stillBucket(burst),
  keysPerDay: 1e9,
  changesPerMinute: 1e9,
  changesPerDay: 1e9,
  clustersPerDay: 1e9,
  namesPerDay: 1e9,
  ...others,
})

export const MINIMUM_WEI = 10_000_000_000_000_000n
/** Time of the first entry, milliseconds: 2026-11-20 08:00:00.123 UTC. */
export const START_MS = Date.UTC(2026, 10, 20, 8, 0, 0, 123)

/** JSON answer of the API. */
export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what a client sees before it knows the shape
  body: any
  headers: Headers
}

/** API on a random port over a database of its own. */
export interface ApiWorld {
  url: string
  pool: pg.Pool
  postgres: Postgres
  chains: readonly ChainPort[]
  get(path: string): Promise<Reply>
  post(path: string, body: unknown): Promise<Reply>
  request(path: string, init: RequestInit): Promise<Reply>
  /** Appends entries to a network's journal with the project's own writer. */
  append(network: Network, entries: readonly Entry[]): Promise<void>
  /** Replaces the hub's unconfirmed tail by these blocks. */
  tail(network: Network, blocks: readonly StoredUnconfirmedBlock[]): Promise<void>
  openLongRequests: Api['openLongRequests']
  /** Ends long polls and streams, like a process that stops. */
  release(): void
  stop(): Promise<void>
}

export interface ApiWorldOptions {
  /** RPC URL or URLs of each chain by label; default: hubs "1" and "11155111" at closed ports. */
  rpcUrls?: Readonly<Record<string, string | readonly string[]>>
  chainId?: number
  contract?: Hex
  configs?: (configs: readonly ChainConfig[]) => readonly ChainConfig[]
  /** Networks whose hub was indexed once; default: both. */
  isIndexed?: readonly Network[]
  log?: Logger
  siteUrl?: string
  shareKeys?: readonly Uint8Array[]
  /** Signer of the operator's permissions. */
  airdropOperatorKey?: Hex
  /** Signer of releases of payments. */
  releaseSigner?: NonNullable<ApiDeps['releaseSigner']>
  metrics?: ApiDeps['metrics']
  failed?: ApiDeps['failed']
  limits?: ApiDeps['limits']
  trustProxy?: NonNullable<ApiDeps['trustProxy']>
  requestDeadlineMs?: number
  ens?: ApiDeps['ens']
  primaryNames?: ApiDeps['primaryNames']
  keepAliveMs?: number
  moreRoutes?: NonNullable<ApiDeps['moreRoutes']>
  /** Further chains in addition to the two hubs. */
  otherChains?: readonly ChainPort[]
  /** Default: any. */
  port?: number
}

const LABELS: readonly { network: Network; label: string }[] = [
  { network: 'mainnet', label: '1' },
  { network: 'testnet', label: '11155111' },
]

export async function startApi(options: ApiWorldOptions = {}): Promise<ApiWorld> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-api-'))
  const postgres = await startMigrated(path.join(home, 'pg'))
  // the vitest project `settings` (vitest.config.ts)
  const databaseUrl = process.env.WRONG_SETTINGS ? await asWrongRole(postgres.url) : postgres.url
  const pool = createPool({
    url: databaseUrl,
    max: 8,
    applicationName: 'test',
    statementTimeoutMs: 10_000,
    // like the daemon's pool for reads
    isByIndex: true,
  })
  const chains = await openChains(pool, options)
  for (const { network } of LABELS)
    await inTransaction(pool, (client) => append(client, network, [minimum()]))
  // signed changes need hubs that have been caught up once
  const indexed = options.isIndexed ?? LABELS.map(({ network }) => network)
  await pool.query('UPDATE journal_heads SET caught_up = network = ANY ($1)', [
    indexed.map((network) => NETWORK_CODE[network]),
  ])
  const notifications = new ChangeNotifications()
  const stopping = new AbortController()
  const { signal } = stopping
  const onError = () => {}
  const loops = new WorkerLoops()
  const listener = createListener({ url: databaseUrl, signal, loops, onError })
  listener.subscribe(notifications.onNotify)
  const api = createApi({
    pool,
    chains: [...chains, ...(options.otherChains ?? [])],
    notifications,
    permissionSigner: options.airdropOperatorKey
      ? createClaimPermissionSigner(options.airdropOperatorKey)
      : null,
    releaseSigner: options.releaseSigner ?? null,
    shareKeys: options.shareKeys ?? [],
    ...(options.siteUrl && { siteUrl: options.siteUrl }),
    config: {
      serviceDomain: 'localhost',
      tokenKey: TOKEN_KEY,
    },
    log: options.log ?? pino({ level: 'silent' }),
    ...(options.metrics && { metrics: options.metrics }),
    ...(options.failed && { failed: options.failed }),
    limits: options.limits ?? null,
    ...(options.trustProxy !== undefined && { trustProxy: options.trustProxy }),
    ...(options.requestDeadlineMs !== undefined && {
      requestDeadlineMs: options.requestDeadlineMs,
    }),
    ...(options.keepAliveMs !== undefined && { keepAliveMs: options.keepAliveMs }),
    ens: options.ens ?? null,
    primaryNames: options.primaryNames ?? null,
    moreRoutes: options.moreRoutes ?? [],
  })
  const server = createServer(api.limits, api.listener)
  api.protect(server)
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${portOf(server)}`
  const request = (route: string, init: RequestInit) => call(`${url}${route}`, init)
  return {
    url,
    pool,
    postgres,
    chains,
    request,
    get: (route) => request(route, {}),
    post: (route, body) => request(route, { method: 'POST', body: JSON.stringify(body) }),
    openLongRequests: api.openLongRequests,
    release: api.release,
    append: (network, entries) =>
      inTransaction(pool, async (client) => {
        await append(client, network, entries)
        await notifyNetwork(client, network)
      }),
    tail: (network, blocks) =>
      inTransaction(pool, async (client) => {
        const tail = { dropFrom: 0, blocks, minimumWei: MINIMUM_WEI }
        await inPipeline(client, (db) => [
          writeUnconfirmedBlocks(db, network, 1, tail),
          notifyBlock(db, network),
        ])
      }),
    async stop() {
      server.closeAllConnections()
      stopping.abort()
      await Promise.all([listener.done, new Promise((resolve) => server.close(resolve))])
      await pool.end()
      await postgres.stop()
      fs.rmSync(home, { recursive: true, force: true })
    },
  }
}

/** API of a file's tests: started before them, and stopped after. */
export function useApi(options: ApiWorldOptions = {}): ApiWorld {
  const world = {} as ApiWorld
  beforeAll(async () => void Object.assign(world, await startApi(options)))
  afterAll(() => world.stop?.())
  return world
}

/** Checks that a replay of the journal gives the same tables. */
export async function expectReplayed(
  { pool }: ApiWorld,
  network: Network = 'mainnet',
): Promise<void> {
  const { live, rebuilt } = await replayJournal(pool, network)
  expect(rebuilt).toBe(live)
}

/** An API of another process over a world's database, by default without chains. */
export async function secondApi(
  { pool }: Pick<ApiWorld, 'pool'>,
  options: Pick<ApiWorldOptions, 'limits' | 'trustProxy'> &
    Partial<Pick<ApiDeps, 'chains' | 'log' | 'ens' | 'moreRoutes'>>,
): Promise<Pick<ApiWorld, 'url' | 'release' | 'stop'>> {
  const config = { serviceDomain: 'localhost', tokenKey: TOKEN_KEY }
  const api = createApi({ pool, chains: [], config, log: pino({ level: 'silent' }), ...options })
  const server = createServer(api.limits, api.listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = async () => {
    api.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const { release } = api
  return { url: `http://127.0.0.1:${portOf(server)}`, release, stop }
}

async function openChains(pool: pg.Pool, options: ApiWorldOptions): Promise<ChainPort[]> {
  const file = {
    chains: await Promise.all(
      LABELS.map(async ({ network, label }) => ({
        network,
        label,
        role: 'hub',
        chainId: options.chainId ?? 31_337,
        rpcUrls: [options.rpcUrls?.[label] ?? `http://127.0.0.1:${await chooseFreePort()}`].flat(),
        contract: options.contract ?? `0x${'11'.repeat(20)}`,
        confirmation: { blocks: 2 },
      })),
    ),
  }
  const configs = parseChainsFile(file, 'test').chains
  return Promise.all(
    (options.configs?.(configs) ?? configs).map(async (config) => {
      const identity = {
        instance: '',
        family: 'evm',
        chainId: config.chainId,
        genesisHash: Buffer.alloc(32),
        startBlock: 0,
      }
      const { network, label } = config
      const row = await registerChain(pool, {
        network,
        label,
        contract: fromHex(config.contract),
        ...identity,
      })
      return createEvmChain({ config, chain: row.chain, rpc: createEvmChainRpc(config) })
    }),
  )
}

const append = async (
  client: pg.PoolClient,
  network: Network,
  entries: readonly Entry[],
): Promise<void> => {
  await appendEntries(client, network, entries.map(decodeEntry), {
    writerMs: Number.MAX_SAFE_INTEGER,
  })
}

function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the server does not listen')
  return address.port
}

/** Sends a request, and checks that the response has JSON, an id, and no error that its route does not declare. */
async function call(url: string, init: RequestInit): Promise<Reply> {
  const response = await fetch(url, init)
  const text = await response.text()
  expect(response.headers.get('content-type'), `${url} ${text}`).toBe(
    'application/json; charset=utf-8',
  )
  expect(response.headers.get('x-request-id')).toMatch(/^\S+$/)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('cache-control'), url).not.toBe(null)
  const body = JSON.parse(text)
  expectDeclaredError({ method: init.method, url }, { status: response.status, body })
  return { status: response.status, body, headers: response.headers }
}

let block = 1_000

const minimum = (): Entry => ({
  kind: 'minimum',
  position: { chain: 1, block: 1, logIndex: 0 },
  txKey: null,
  causeMs: START_MS - 1,
  body: bigIntToWord(MINIMUM_WEI),
})

export interface BidOptions {
  from: string
  name: string
  amountWei?: bigint
  tx?: Hex
  block?: number
  logIndex?: number
  atMs?: number
  /** Raw word of a malformed name. */
  word?: Buffer
  /** Last word of a bid with a referral. */
  referral?: Buffer
}

/** Journal entry of a bid, as the indexer appends it. */
export function bid(options: BidOptions): Entry {
  const address = parseAddress(options.from)
  if (typeof address === 'string') throw new Error(`${options.from}: ${address}`)
  const body = Buffer.concat([
    fromHex(options.tx ?? randomHash()),
    addressToWord(address.bytes),
    bigIntToWord(options.amountWei ?? MINIMUM_WEI),
    options.word ?? nameToWord(options.name),
    options.referral ?? Buffer.alloc(0),
  ])
  return {
    kind: 'bid',
    position: { chain: 1, block: options.block ?? block++, logIndex: options.logIndex ?? 0 },
    txKey: txKeyOfHash(body),
    causeMs: options.atMs ?? START_MS,
    body,
  }
}

/** Block of the tail with these entries. */
export const tailBlock = (
  number: number,
  entries: readonly Entry[],
  timestampMs = START_MS,
): StoredUnconfirmedBlock => ({
  block: number,
  hash: randomBytes(32),
  parentHash: randomBytes(32),
  timestampMs,
  entries: entries.map(decodeEntry),
})

export const randomHash = (): Hex => `0x${randomBytes(32).toString('hex')}`
export const randomAddress = (): Hex => `0x${randomBytes(20).toString('hex')}`
let names = 0
/** Unique name. */
export const freshName = (): string => `name-${++names}-${randomBytes(4).toString('hex')}`
