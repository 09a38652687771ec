import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, type Keypair } from '@solana/web3.js'
import { createSolanaRpc } from '../../src/chains/rpc/solana.js'
import { readTransaction } from '../../src/chains/solana/reads.js'
import { createRegistrarClient } from '../../src/chains/solana/registrar.js'
import { createSolanaSigner, type SolanaSigner } from '../../src/chains/solana/signer.js'
import { parseChainsFile } from '../../src/config/index.js'
import { openSolanaChain } from '../../src/daemon/families/solana.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentFromRow } from '../../src/db/payments/rows.js'
import { query } from '../../src/db/pg/rows.js'
import { listTransactions } from '../../src/indexer/solana/list.js'
import { PaymentWatcher } from '../../src/indexer/solana/watcher.js'
import type { StoredPayment } from '../../src/registry/payment/payment.js'
import {
  deriveQuoteId,
  type PaymentTerms,
  paymentMessageId,
  paymentSourceId,
} from '../../src/registry/payment/quote.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { SolanaRelayer, type SolanaRelayerOptions } from '../../src/relayer/solanaRelayer.js'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { startLocalSolana } from '../../src/testing/solana/localSolana.js'
import { MINIMUM_WEI, openChains, startBridgeWorld } from '../support/bridgeWorld.js'
import { runChild } from '../support/kill.js'
import { sendSolanaTransaction } from '../support/sendSolana.js'
import { outboxCommand } from './deliveries.js'

const QUOTE_KEY = Buffer.alloc(32, 0x0c)
export const LAMPORTS = 25_000_000n
const SLOT_MS = 50
const POLL_MS = 150
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

export type PaymentWorld = Awaited<ReturnType<typeof startPaymentWorld>>

/** Hub and spoke, PostgreSQL, and a local Solana with the real program: tests drive every step by hand. */
export async function startPaymentWorld() {
  const [bridge, started] = await Promise.all([
    startBridgeWorld(),
    startLocalSolana({ slotMs: SLOT_MS }),
  ])
  if (!started) throw new Error('Surfpool is not installed on this platform')
  const solana = started
  const connection = new Connection(solana.rpcUrl, 'confirmed')
  const registrar = createRegistrarClient(solana.programId)
  const { programId, startSlot, rpcUrl, relayAuthority } = solana
  const secretKey = keypairOfAccount(relayAuthority).secretKey
  const rpc = createSolanaRpc({ rpcUrls: [rpcUrl] })
  const signer = createSolanaSigner({
    rpc,
    registrar,
    commitment: 'confirmed',
    secretKey,
    maxUnitPrice: 0,
  })
  const feed = `0x${'0f'.repeat(20)}`
  const section = {
    rpcUrls: [rpcUrl],
    programId,
    startSlot,
    commitment: 'confirmed',
    feeds: { solUsd: feed, ethUsd: feed },
  }
  const config = parseChainsFile({ ...bridge.file, solana: { mainnet: section } }, 'test').solana
    .mainnet!
  const [hub] = await openChains(bridge.pool, bridge.file)
  const source = await openSolanaChain({
    pool: bridge.pool,
    network: 'mainnet',
    config,
    hub: hub!.chain.rpc,
    quoteKeys: [QUOTE_KEY],
    releaseAfterMs: RELEASE_AFTER_MS,
  })
  const { identity, chain } = await source.open()
  let watcher: PaymentWatcher | null = null
  let epoch: number | null = null

  const world = {
    bridge,
    solana,
    connection,
    registrar,
    signer,
    /** The signer, with some of its functions replaced. */
    signerWith: (change: Partial<SolanaSigner>): SolanaSigner => ({ ...signer, ...change }),
    /** The statuses of a node without a history, long after the transactions expired. */
    withoutHistory: {
      async statuses(asked: readonly string[]) {
        const now = await signer.statuses(asked)
        return { ...now, height: now.height + 1_000, statuses: asked.map(() => null) }
      },
    },
    chain,
    /** Pays for a name, and has the payment indexed. */
    async pay(
      name: string,
      { payer: index = 0, foreign = false, again }: PayOptions = {},
    ): Promise<Paid> {
      const payer = again?.payer ?? keypairOfAccount(solana.accounts[index]!)
      const terms: PaymentTerms = {
        payer: payer.publicKey.toBytes(),
        name: nameToWord(name),
        amountWei: MINIMUM_WEI,
        lamports: LAMPORTS,
        expiresAt:
          BigInt(Math.floor(Date.now() / 1_000) + 600) + BigInt(randomBytes(2).readUInt16BE()),
        referral: Buffer.alloc(32),
      }
      const id =
        again?.quoteId ?? (foreign ? randomBytes(32) : deriveQuoteId(QUOTE_KEY, identity, terms))
      await sendSolanaTransaction(connection, [payer], registrar.register(terms, id))
      const account = (await connection.getAccountInfo(
        registrar.payment({ payer: payer.publicKey, quoteId: id }),
        'confirmed',
      ))!
      const { sequence } = registrar.decodePayment(account.data)
      await world.watch()
      return {
        messageId: paymentMessageId(
          paymentSourceId(identity.genesisHash, identity.programId),
          sequence,
        ),
        quoteId: id,
        sequence,
        payer,
      }
    },
    /** Indexes new payments on Solana. */
    async watch(): Promise<void> {
      if (!watcher || epoch !== bridge.epochOf('index')) {
        await bridge.index()
        epoch = bridge.epochOf('index')
        const signal = new AbortController().signal
        watcher = new PaymentWatcher({
          pool: bridge.pool,
          rpc,
          registrar,
          network: 'mainnet',
          open: source.open,
          startSlot,
          commitment: 'confirmed',
          signal,
          epoch: epoch!,
        })
      }
      while ((await watcher.step()).kind !== 'idle');
    },
    /** A payer that leads, as after a restart. */
    async restart(options: Partial<SolanaRelayerOptions> = {}): Promise<SolanaRelayer> {
      await bridge.restart()
      return new SolanaRelayer({
        pool: bridge.pool,
        network: 'mainnet',
        chain,
        signer,
        releaseAfterMs: RELEASE_AFTER_MS,
        epoch: bridge.epochOf('relay')!,
        clock: { nowMs: () => Date.now() + bridge.aheadMs, random: () => 0.5 },
        ...options,
      })
    },
    /** The payment as it is stored. */
    stored: ({ messageId }: Paid): Promise<StoredPayment> => world.storedById(messageId),
    async storedById(id: Buffer): Promise<StoredPayment> {
      const text = `SELECT ${PAYMENT_COLUMNS} FROM payments p WHERE p.network = $1 AND p.id = $2`
      const [row] = await query<PaymentRow>(bridge.pool, 'mainnet', text, [id])
      return paymentFromRow(row!)
    },
    /** Steps until nothing is under way. */
    async finish(payer: SolanaRelayer): Promise<void> {
      for (let i = 0; i < 400; i++) {
        if ((await payer.step()) === 'idle') return
        // a payment's outcome, which the watcher reads, ends its job
        await world.watch()
        await sleep(POLL_MS)
      }
      throw new Error('payouts did not end')
    },
    /** Delivers all messages to the hub, and indexes their outcomes. */
    async deliver(): Promise<void> {
      await bridge.finish(await bridge.restart())
      await bridge.hub.test.mine({ blocks: 3 })
      await bridge.index()
    },
    async payout({ messageId }: Paid) {
      type Payout = { state: number; kind: number; reason: string | null; failures: number }
      const { rows } = await bridge.pool.query<Payout>(
        'SELECT state, kind, reason, failures FROM jobs WHERE network = 0 AND subject = $1 AND kind IN (6, 7)',
        [messageId],
      )
      return rows[0]
    },
    /** Count of a payment's closings by the program's own events: 1 or 0. */
    closings: ({ sequence }: Paid): Promise<number> =>
      rpc.onOneNode(async (call) => {
        const options = { commitment: 'confirmed' as const, until: null, downToSlot: startSlot }
        const { listed } = await listTransactions(call, registrar, options)
        const read = listed.map(({ signature }) =>
          readTransaction(call, registrar, signature, 'confirmed'),
        )
        const closings = (await Promise.all(read)).flatMap((tx) => tx!.ends)
        return closings.filter((end) => end.of === 'name' && end.sequence === sequence).length
      }),
    balance: async ({ publicKey }: Keypair): Promise<bigint> =>
      BigInt(await connection.getBalance(publicKey, 'confirmed')),
    outbox: outboxCommand(bridge),
    /** Runs a payer in another process until it dies at a fail point. */
    async die(failpoint: string): Promise<string | null> {
      await bridge.release()
      const at = { rpcUrl, programId, secretKey: relayAuthority.secretKey, chain }
      const child = runChild({
        databaseUrl: bridge.postgres.url,
        failpoint,
        aheadMs: bridge.aheadMs,
        at,
      })
      let hasEnded = false
      void child.finally(() => (hasEnded = true))
      while (!hasEnded) await Promise.all([world.watch(), sleep(POLL_MS)])
      return child
    },
    async stop() {
      await Promise.all([solana.stop(), bridge.stop()])
    },
  }
  return world
}
