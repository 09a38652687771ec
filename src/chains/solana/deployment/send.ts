import { setTimeout as sleep } from 'node:timers/promises'
import { ComputeBudgetProgram, type Keypair, Transaction, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import type { SolanaRpc } from '../../rpc/solana.js'
import { readLatestBlockhash, readStatuses } from '../reads.js'

const COMMITMENT = 'confirmed'
const FIRST_POLL_MS = 50
const POLL_MS = 1_000
/** The bytes are sent again so often: a leader may drop them. */
const SEND_EVERY_MS = 2_000

/**
 * Signs instructions as one transaction, paid by the first signer, sends it after the node has simulated it, and waits
 * until it is confirmed.
 * @param unitPrice of a compute unit, millionths of a lamport
 * @returns its signature
 * @throws Error with one sentence where it fails, or its blockhash expires
 */
export async function sendInstructions(
  rpc: SolanaRpc,
  signers: readonly [Keypair, ...Keypair[]],
  instructions: readonly TransactionInstruction[],
  unitPrice = 0,
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await readLatestBlockhash(rpc.call, COMMITMENT)
  const transaction = new Transaction({ feePayer: signers[0].publicKey, recentBlockhash: blockhash })
  if (unitPrice > 0) transaction.add(ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPrice }))
  transaction.add(...instructions).sign(...signers)
  const bytes = transaction.serialize().toString('base64')
  const signature = bs58.encode(transaction.signature!)
  let sentMs = Number.NEGATIVE_INFINITY
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(POLL_MS, 2 * pauseMs)) {
    if (performance.now() - sentMs > SEND_EVERY_MS) {
      const isFirst = sentMs === Number.NEGATIVE_INFINITY
      const options = { encoding: 'base64', preflightCommitment: COMMITMENT, skipPreflight: !isFirst }
      await rpc.call('sendTransaction', [bytes, options])
      sentMs = performance.now()
    }
    const [status] = await readStatuses(rpc.call, [signature])
    if (status?.err) throw new Error(`The transaction ${signature} failed: ${JSON.stringify(status.err)}.`)
    if (status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized') return signature
    const height = await rpc.call<number>('getBlockHeight', [{ commitment: COMMITMENT }])
    if (height > lastValidBlockHeight)
      throw new Error(`The cluster took no notice of ${signature}: run the command again, with a higher --unit-price.`)
    await sleep(pauseMs)
  }
}
