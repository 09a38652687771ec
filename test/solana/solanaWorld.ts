import { readFileSync } from 'node:fs'
import {
  Connection,
  Keypair,
  PublicKey,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { pino } from 'pino'
import { createWalletClient, http } from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, afterEach } from 'vitest'
import { createApi } from '../../src/api/server.js'
import { createSolanaRpc } from '../../src/chains/rpc/solana.js'
import { deployProgram } from '../../src/chains/solana/deployment/deploy.js'
import { createRegistrarClient, type RegistrarClient } from '../../src/chains/solana/registrar.js'
import type { SolanaConfig } from '../../src/config/index.js'
import { type OpenedSolanaChain, openSolanaChain } from '../../src/daemon/families/solana.js'
import { PaymentWatcher, type PaymentWatcherOptions } from '../../src/indexer/solana/watcher.js'
import { deriveQuoteId, type PaymentTerms } from '../../src/registry/payment/quote.js'
import { nameToWord, wordToName } from '../../src/registry/primitives/name.js'
import { deployPriceFeeds, type PriceFeeds } from '../../src/testing/contracts/priceFeed.js'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { type LocalSolana, startLocalSolana } from '../../src/testing/solana/localSolana.js'
import { readEpoch } from '../support/epoch.js'
import { serve } from '../support/httpServer.js'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { sendSolanaTransaction } from '../support/sendSolana.js'
import { clusterConfig, QUOTE_KEY } from './solanaConfig.js'
import { type SolanaProxy, startSolanaProxy } from './solanaProxy.js'

const CALLER = new URL('../../contracts/solana/test-doubles/caller/caller.so', import.meta.url)
const SLOT_MS = 40

/** A hub on anvil with price feeds, PostgreSQL, Surfpool with the registrar, the API: a test drives the watcher. */
export interface SolanaWorld {
  hub: HubWorld
  solana: LocalSolana
  connection: Connection
  registrar: RegistrarClient
  feeds: PriceFeeds
  proxy: SolanaProxy
  payer(index: number): Keypair
  /** Sends instructions in one transaction and waits for it; one that fails too. @returns its signature */
  send(payer: Keypair, ...instructions: TransactionInstruction[]): Promise<string>
  /** Terms of a quote of ours, and its id. */
  quoted(
    payer: PublicKey,
    name: string,
    changes?: Partial<PaymentTerms>,
  ): { terms: PaymentTerms; id: Buffer }
  /** Pays names by quotes of ours, in one transaction. @returns its signature */
  pay(payer: Keypair, ...names: string[]): Promise<string>
  /** An instruction wrapped in a call by another program. */
  throughCaller(instruction: TransactionInstruction): TransactionInstruction
  open(config?: Partial<SolanaConfig>): Promise<OpenedSolanaChain>
  /** A fresh watcher, as after a restart. */
  watcher(options?: Partial<PaymentWatcherOptions>): Promise<PaymentWatcher>
  rows(): Promise<
    {
      sequence: number
      name: string
      verdict: number
      confirmed: boolean
      settled: boolean
      paid_ms: number
    }[]
  >
  request(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }>
  /** Signs a transaction of a quote as a wallet does, and sends it. */
  sign(payer: Keypair, base64: string): Promise<string>
  stop(): Promise<void>
}

/** A world for the tests of a file, each of which begins with an honest node. */
export async function useSolanaWorld(): Promise<SolanaWorld> {
  const world = await startSolanaWorld()
  afterAll(() => world.stop())
  afterEach(() => Object.assign(world.proxy, { alter: null, errorOf: null, isDown: false }))
  return world
}

async function startSolanaWorld(): Promise<SolanaWorld> {
  const [hub, solana] = await Promise.all([startHubWorld(), startLocalSolana({ slotMs: SLOT_MS })])
  if (!solana) throw new Error('these tests need Surfpool')
  const connection = new Connection(solana.rpcUrl, {
    wsEndpoint: solana.wsUrl,
    commitment: 'confirmed',
  })
  const proxy = await startSolanaProxy(solana.rpcUrl)
  const caller = Keypair.generate()
  const [, vaultBump] = PublicKey.findProgramAddressSync([Buffer.from('vault')], caller.publicKey)
  const deployer = keypairOfAccount(solana.accounts[4]!)
  const chain = { ...foundry, id: hub.config.chainId }
  const [feeds] = await Promise.all([
    deployPriceFeeds({
      walletClient: createWalletClient({
        chain,
        account: hub.wallet(9),
        transport: http(hub.anvil.rpcUrl),
      }),
      publicClient: hub.public,
    }),
    deployProgram(createSolanaRpc({ rpcUrls: [solana.rpcUrl] }), {
      payer: deployer,
      program: caller,
      code: readFileSync(CALLER),
    }),
  ])
  const registrar = createRegistrarClient(solana.programId)
  const genesisHash = bs58.decode(solana.genesisHash)
  const config = clusterConfig(solana, [proxy.url], feeds)
  const { chain: hubChain } = await hub.open()
  const open = (changes: Partial<SolanaConfig> = {}) =>
    openSolanaChain({
      pool: hub.pool,
      network: 'mainnet',
      hub: hubChain.rpc,
      quoteKeys: [QUOTE_KEY],
      releaseAfterMs: 1,
      config: { ...config, ...changes },
    })
  const api = await startApi(hub, await open(), [hubChain])

  const world: SolanaWorld = {
    hub,
    solana,
    connection,
    registrar,
    feeds,
    proxy,
    open,
    payer: (index) => keypairOfAccount(solana.accounts[index]!),
    send: (payer, ...instructions) =>
      sendSolanaTransaction(connection, [payer], ...instructions).catch(
        (error: Error & { signature?: string }) => {
          if (error.signature) return error.signature
          throw error
        },
      ),
    quoted(payer, name, changes = {}) {
      const terms: PaymentTerms = {
        payer: payer.toBytes(),
        name: nameToWord(name),
        amountWei: 10n ** 16n,
        lamports: 200_000_000n,
        expiresAt: BigInt(Math.floor(Date.now() / 1_000) + 600),
        referral: Buffer.alloc(32),
        ...changes,
      }
      const identity = {
        network: 'mainnet',
        genesisHash,
        programId: registrar.programId.toBytes(),
      } as const
      return { terms, id: deriveQuoteId(QUOTE_KEY, identity, terms) }
    },
    pay: (payer, ...names) =>
      world.send(
        payer,
        ...names.map((name) => {
          const { terms, id } = world.quoted(payer.publicKey, name)
          return registrar.register(terms, id)
        }),
      ),
    throughCaller: ({ programId, keys, data }) =>
      new TransactionInstruction({
        programId: caller.publicKey,
        keys: [{ pubkey: programId, isSigner: false, isWritable: false }, ...keys],
        data: Buffer.concat([
          Buffer.of(vaultBump),
          Buffer.from(keys.map(({ isSigner }) => Number(isSigner))),
          data,
        ]),
      }),
    async watcher(options = {}) {
      const epoch = await readEpoch(hub.pool, 'mainnet', 'index')
      const opened = await open()
      const { rpc, config: used } = opened.chain
      return new PaymentWatcher({
        pool: hub.pool,
        rpc,
        registrar,
        epoch,
        signal: new AbortController().signal,
        startSlot: used.startSlot,
        commitment: used.commitment,
        network: 'mainnet',
        open: opened.open,
        ...options,
      })
    },
    async rows() {
      const sql = `SELECT sequence, name_word, verdict, state > 0 AS confirmed, state = 2 AS settled, paid_ms
        FROM payments WHERE kind = 1 ORDER BY sequence`
      const { rows } = await hub.pool.query(sql)
      return rows.map(({ name_word: word, ...row }) => ({ ...row, name: wordToName(word) }))
    },
    request: api.request,
    async sign(payer, base64) {
      const tx = Transaction.from(Buffer.from(base64, 'base64'))
      tx.sign(payer)
      const signature = await connection.sendRawTransaction(tx.serialize())
      await connection.confirmTransaction(signature, 'confirmed')
      return signature
    },
    async stop() {
      await api.stop()
      await Promise.all([proxy.stop(), solana.stop(), hub.stop()])
    },
  }
  return world
}

async function startApi(
  hub: HubWorld,
  { chain }: OpenedSolanaChain,
  chains: Parameters<typeof createApi>[0]['chains'],
) {
  const log = pino({ level: 'silent' })
  const api = createApi({
    pool: hub.pool,
    chains: [...chains, chain],
    config: { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) },
    log,
  })
  const { url, stop } = await serve(api.listener, api.limits)
  return {
    stop,
    async request(method: string, path: string, body?: unknown) {
      const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const response = await fetch(`${url}${path}`, init)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
  }
}
