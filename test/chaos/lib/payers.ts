import { setMaxListeners } from 'node:events'
import { VersionedTransaction } from '@solana/web3.js'
import bs58 from 'bs58'
import { registrarIdl } from '../../../src/chains/solana/registrar.js'
import { keypairOfAccount } from '../../../src/testing/solana/accounts.js'
import type { SolanaAccount } from '../../../src/testing/world.js'
import { seededRandomSequence } from '../../support/random.js'
import type { Ledger } from './ledger.js'
import { actAtPace, someNames } from './wallets.js'
import { askApi } from './watchers.js'
import type { ChaosSolana, ChaosWorld } from './world.js'

const PACE_MS = { min: 1_000, max: 4_000 }
const REGISTER = Buffer.from(
  registrarIdl.instructions.find(({ name }) => name === 'register')!.discriminator,
)
/** Offset of the amount, after discriminator, quote id, name and amount of the bid. */
const LAMPORTS_OFFSET = 8 + 32 + 32 + 16
/** Share of payers that pay less than their quote. */
const UNDERPAID = 0.12

/** Lets the accounts on Solana pay for quotes until the signal. Some pay less than their quote. */
export async function runPayers(
  world: ChaosWorld,
  ledger: Ledger,
  seed: number,
  signal: AbortSignal,
): Promise<void> {
  const { solana } = world
  if (!solana) return
  setMaxListeners(0, signal)
  await Promise.all(
    solana.accounts.map((account, i) =>
      runPayer(world.apis, solana, account, ledger, seededRandomSequence(seed, 'payer', i), signal),
    ),
  )
}

async function runPayer(
  apis: readonly string[],
  solana: ChaosSolana,
  account: SolanaAccount,
  ledger: Ledger,
  next: () => number,
  signal: AbortSignal,
): Promise<void> {
  await actAtPace(next, PACE_MS, signal, async () => {
    const names = someNames(next, 2).map((name) => ({ name }))
    const isUnderpaid = next() < UNDERPAID
    const quote = await askApi<{ transactionData: string[] }>(apis, '/v1/names/register/solana', {
      method: 'POST',
      body: { network: 'solana', sender: account.address, names },
    })
    // a wallet shows an error here: the name is taken meanwhile, or the daemon is down
    for (const transaction of quote?.transactionData ?? []) {
      await pay(solana, account, transaction, isUnderpaid, ledger).catch(() => {})
    }
  })
}

async function pay(
  { connection }: ChaosSolana,
  account: SolanaAccount,
  transaction: string,
  isUnderpaid: boolean,
  ledger: Ledger,
): Promise<void> {
  const bytes = Buffer.from(transaction, 'base64')
  if (isUnderpaid) halve(bytes)
  const tx = VersionedTransaction.deserialize(bytes)
  tx.sign([keypairOfAccount(account)])
  // a transaction may be sent although its answer got lost
  ledger.add({
    hash: bs58.encode(tx.signatures[0]!),
    raw: '0x',
    label: 'solana',
    sender: account.address,
    nonce: 0,
    kind: isUnderpaid ? 'underpaid' : 'payment',
  })
  await connection.sendRawTransaction(tx.serialize(), { preflightCommitment: 'confirmed' })
}

/** Halves the amount that a transaction's `register` pays. */
function halve(transaction: Buffer): void {
  const at = transaction.indexOf(REGISTER) + LAMPORTS_OFFSET
  transaction.writeBigUInt64LE(transaction.readBigUInt64LE(at) / 2n, at)
}
