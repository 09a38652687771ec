import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Connection,
  type Keypair,
  Transaction,
  type TransactionConfirmationStatus,
  type TransactionInstruction,
} from '@solana/web3.js'

const CONFIRM_DEADLINE_MS = 30_000
const POLL_MS = 40

/**
 * Signs and sends one transaction, paid by the first signer, and waits for commitment "confirmed".
 * @returns the transaction's signature
 * @throws Error with the field `signature` when the transaction fails; Error when it is not confirmed in 30 s
 */
export async function sendSolanaTransaction(
  connection: Connection,
  signers: readonly [Keypair, ...Keypair[]],
  ...instructions: TransactionInstruction[]
): Promise<string> {
  const lifetime = await connection.getLatestBlockhash('confirmed')
  const transaction = new Transaction({ feePayer: signers[0].publicKey, ...lifetime }).add(
    ...instructions,
  )
  transaction.sign(...signers)
  // without preflight, a failing transaction is included in a block, as when a wallet skips the preflight
  const signature = await connection.sendRawTransaction(transaction.serialize(), {
    skipPreflight: true,
  })
  await waitForSolanaConfirmation(connection, [signature])
  return signature
}

/** Waits until transactions have commitment "confirmed". @throws the errors of `sendSolanaTransaction` */
export async function waitForSolanaConfirmation(
  connection: Connection,
  signatures: readonly string[],
): Promise<void> {
  const end = performance.now() + CONFIRM_DEADLINE_MS
  let open = signatures
  while (performance.now() < end) {
    const { value } = await connection.getSignatureStatuses([...open])
    const failed = value.findIndex((status) => status?.err)
    const signature = open[failed]
    const reason = JSON.stringify(value[failed]?.err)
    if (signature) throw Object.assign(new Error(`sending ${signature}: ${reason}`), { signature })
    open = open.filter((_, index) => !isConfirmed(value[index]?.confirmationStatus))
    if (open.length === 0) return
    await sleep(POLL_MS)
  }
  throw new Error(`sending ${open[0]}: not confirmed after ${CONFIRM_DEADLINE_MS / 1_000} s`)
}

const isConfirmed = (status: TransactionConfirmationStatus | undefined): boolean =>
  status === 'confirmed' || status === 'finalized'
