import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { Connection, type Keypair } from '@solana/web3.js'
import { createSolanaRpc } from '../../src/chains/rpc/solana.js'
import { listTransactions, readTransactions } from '../../src/chains/solana/reads.js'
import { createRegistrar, type Registrar } from '../../src/chains/solana/registrar.js'
import { createSolanaSigner, type SolanaSigner } from '../../src/chains/solana/signer.js'
import { parseChainsFile } from '../../src/config/index.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentOf } from '../../src/db/payments/rows.js'
import { query } from '../../src/db/pg/rows.js'
import { PaymentWatcher } from '../../src/indexer/solana/watcher.js'
import { openSolana } from '../../src/open.js'
import type { StoredPayment } from '../../src/registry/payment/payment.js'
import { type PaymentTerms, paymentMessageId, paymentSource, quoteId } from '../../src/registry/payment/quote.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { SolanaRelayer, type SolanaRelayerOptions } from '../../src/relayer/solanaRelayer.js'
import { keypairOf } from '../../src/testing/solana/accounts.js'
import { type LocalSolana, startLocalSolana } from '../../src/testing/solana/localSolana.js'
import { sendSolana } from '../../src/testing/solana/sendSolana.js'
import { testProgram } from '../setup/built.js'
import { type BridgeWorld, MINIMUM_WEI, openChains, startBridgeWorld } from '../support/bridgeWorld.js'
import { outboxCommand } from './deliveries.js'
import type { PayoutChildOrder } from './payoutChild.js'

const QUOTE_KEY = Buffer.alloc(32, 0x0c)
export const LAMPORTS = 25_000_000n
const SLOT_MS = 50
export const RELEASE_AFTER_MS = 3_600_000

export interface Paid {
  messageId: Buffer
  quoteId: Buffer
  sequence: bigint
  payer: Keypair
}

interface PayOptions {
  payer?: number
  /** Whether the quote id is a random one. */
  foreign?: boolean
  /** The quote of another payment. */
  again?: Paid
}

export interface PaymentWorld {
  bridge: BridgeWorld
  solana: LocalSolana
  connection: Connection
  registrar: Registrar
  signer: SolanaSigner
  /** The signer, with some of its functions replaced. */
  signerWith(change: Partial<SolanaSigner>): SolanaSigner
  /** The statuses of a node without a history, long after the transactions expired. */
  withoutHistory: Pick<SolanaSigner, 'statuses'>
  /** The program's number in the database. */
  chain: number
  /** Pays for a name, and has the payment indexed. */
  pay(name: string, options?: PayOptions): Promise<Paid>
  /** Indexes new payments on Solana. */
  watch(): Promise<void>
  /** A payer that leads, as after a restart. */
  restart(options?: Partial<SolanaRelayerOptions>): Promise<SolanaRelayer>
  /** The payment as it is stored. */
  stored(paid: Paid): Promise<StoredPayment>
  /** Steps until nothing is under way. */
  finish(payer: SolanaRelayer): Promise<void>
  /** Delivers all messages to the hub, and indexes their outcomes. */
  deliver(): Promise<void>
  payout(paid: Paid): Promise<{ state: number; kind: number; reason: string | null; failures: number } | undefined>
  /** Count of a payment's closings by the program's own events: 1 or 0. */
  closings(paid: Paid): Promise<number>
  balance(key: Keypair): Promise<bigint>
  /** Runs `clusterd outbox` on the world's database. */
  outbox(...args: string[]): Promise<{ stdout: string; stderr: string; code: number }>
  /** Runs a payer in another process until it dies at a fail point. @returns the signal that ended it */
  die(failpoint: string, options?: { autoRefunds?: boolean }): Promise<string | null>
  stop(): Promise<void>
}

/** Hub and spoke, PostgreSQL, and a local Solana with the real program: tests drive every step by hand. */
export async function startPaymentWorld(): Promise<PaymentWorld> {
  const [bridge, started] = await Promise.all([startBridgeWorld(), startLocalSolana({ slotMs: SLOT_MS })])
  if (!started) throw new Error('Surfpool is not installed on this platform')
  const solana = started
  const connection = new Connection(solana.rpcUrl, 'confirmed')
  const registrar = createRegistrar(solana.programId)
  const { programId, startSlot, rpcUrl, relayAuthority } = solana
  const secretKey = keypairOf(relayAuthority).secretKey
  const rpc = createSolanaRpc({ label: 'solana', urls: [rpcUrl] })
  const signer = createSolanaSigner({ rpc, registrar, commitment: 'confirmed', secretKey, maxUnitPrice: 0 })
  const feed = `0x${'0f'.repeat(20)}`
  const section = {
    rpcUrls: [rpcUrl],
    programId,
    startSlot,
    commitment: 'confirmed',
    feeds: { solUsd: feed, ethUsd: feed },
  }
  const config = parseChainsFile({ ...bridge.file, solana: { mainnet: section } }, 'test').solana.mainnet!
  const [hub] = await openChains(bridge.pool, bridge.file)
  const source = await openSolana({
    ...{ pool: bridge.pool, network: 'mainnet', config, hub: hub!.chain.rpc, quoteKeys: [QUOTE_KEY] },
    releaseAfterMs: RELEASE_AFTER_MS,
  })
  const { identity, chain } = await source.open()
  let watcher: PaymentWatcher | null = null

  const world: PaymentWorld = {
    bridge,
    solana,
    connection,
    registrar,
    signer,
    signerWith: (change) => ({ ...signer, ...change }),
    withoutHistory: {
      async statuses(asked) {
        const now = await signer.statuses(asked)
        return { ...now, height: now.height + 1_000, statuses: asked.map(() => null) }
      },
    },
    chain,
    async pay(name, { payer: index = 0, foreign = false, again } = {}) {
      const payer = again?.payer ?? keypairOf(solana.accounts[index]!)
      const terms: PaymentTerms = {
        payer: payer.publicKey.toBytes(),
        name: nameToWord(name),
        amountWei: MINIMUM_WEI,
        lamports: LAMPORTS,
        expiresAt: BigInt(Math.floor(Date.now() / 1_000) + 600) + BigInt(randomBytes(2).readUInt16BE()),
        referral: Buffer.alloc(32),
      }
      const id = again?.quoteId ?? (foreign ? randomBytes(32) : quoteId(QUOTE_KEY, identity, terms))
      await sendSolana(connection, [payer], registrar.register(terms, id))
      const account = (await connection.getAccountInfo(
        registrar.payment({ payer: payer.publicKey, quoteId: id }),
        'confirmed',
      ))!
      const { sequence } = registrar.decodePayment(account.data)
      await world.watch()
      return {
        messageId: paymentMessageId(paymentSource(identity.genesisHash, identity.programId), sequence),
        quoteId: id,
        sequence,
        payer,
      }
    },
    async watch() {
      if (!watcher) {
        await bridge.index()
        const { label } = source.chain
        const signal = new AbortController().signal
        watcher = new PaymentWatcher({
          ...{ pool: bridge.pool, rpc, registrar, identity, chain, label, startSlot, commitment: 'confirmed', signal },
          epoch: bridge.epochOf('index')!,
        })
      }
      while ((await watcher.step()).kind !== 'idle');
    },
    async restart(options = {}) {
      await bridge.restart()
      return new SolanaRelayer({
        ...{
          pool: bridge.pool,
          network: 'mainnet',
          chain,
          signer,
          autoRefunds: false,
          releaseAfterMs: RELEASE_AFTER_MS,
        },
        epoch: bridge.epochOf('relay')!,
        clock: { nowMs: () => Date.now() + bridge.aheadMs, random: () => 0.5 },
        ...options,
      })
    },
    async stored({ messageId }) {
      const text = `SELECT ${PAYMENT_COLUMNS} FROM payments p WHERE p.network = $1 AND p.id = $2`
      const [row] = await query<PaymentRow>(bridge.pool, 'mainnet', text, [messageId])
      return paymentOf(row!)
    },
    async finish(payer) {
      for (let i = 0; i < 400; i++) {
        if ((await payer.step()) === 'idle') return
        await new Promise((resolve) => setTimeout(resolve, SLOT_MS))
      }
      throw new Error('payouts did not end')
    },
    async deliver() {
      await bridge.finish(await bridge.restart())
      await bridge.hub.test.mine({ blocks: 3 })
      await bridge.index()
    },
    async payout({ messageId }) {
      const { rows } = await bridge.pool.query(
        'SELECT state, kind, reason, failures FROM jobs WHERE network = 0 AND subject = $1 AND kind IN (6, 7)',
        [messageId],
      )
      return rows[0]
    },
    closings: ({ sequence }) =>
      rpc.onOneNode(async (call) => {
        const options = { commitment: 'confirmed' as const, until: null, downToSlot: startSlot }
        const { listed } = await listTransactions(call, registrar, options)
        const all = await readTransactions(call, registrar, listed, 'confirmed')
        return all.flatMap(({ closed }) => closed).filter((closed) => closed.sequence === sequence).length
      }),
    balance: async ({ publicKey }) => BigInt(await connection.getBalance(publicKey, 'confirmed')),
    outbox: outboxCommand(bridge),
    async die(failpoint, { autoRefunds = false } = {}) {
      await bridge.release()
      const order: PayoutChildOrder = {
        ...{ databaseUrl: bridge.postgres.url, rpcUrl, programId, chain, failpoint, autoRefunds },
        ...{ secretKey: relayAuthority.secretKey, aheadMs: bridge.aheadMs },
      }
      const program = await testProgram('test/relayer/payoutChild')
      const child = spawn(process.execPath, [program, JSON.stringify(order)], {
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      return new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)))
    },
    async stop() {
      await Promise.all([solana.stop(), bridge.stop()])
    },
  }
  return world
}
