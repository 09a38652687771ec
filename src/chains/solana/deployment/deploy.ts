import { setTimeout as sleep } from 'node:timers/promises'
import {
  ComputeBudgetProgram,
  type Keypair,
  type PublicKey,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { mapInBatches } from '../../rpc/batches.js'
import type { SolanaRpc } from '../../rpc/solana.js'
import { programDataAddress } from '../admin.js'
import {
  getSlot,
  hasReachedCommitment,
  readAccount,
  readLatestBlockhash,
  readSignatureStatuses,
} from '../reads.js'
import {
  BUFFER_HEADER_BYTES,
  createBufferInstructions,
  decodeProgramData,
  deployBufferInstructions,
  PROGRAM_ACCOUNT_BYTES,
  type ProgramData,
  programBufferAddress,
  writeBufferInstruction,
} from './loader.js'

const DEPLOYMENT_COMMITMENT = 'confirmed'
/**
 * Bytes of code in one write. A transaction has at most 1,232 bytes. Signatures, accounts and the other fields take
 * about 300.
 */
const CODE_PIECE_BYTES = 900
const MAX_CONCURRENT_WRITES = 8
const SLOT_POLL_MS = 50

interface ProgramDeployment {
  /** Pays, and becomes upgrade authority. */
  payer: Keypair
  /** Key pair whose public key becomes the program's id. */
  program: Keypair
  code: Buffer
  /** Price of a compute unit, millionths of a lamport. */
  unitPrice?: number
  onProgress?: (written: number, pieces: number) => void
}

/**
 * Deploys a program as `solana program deploy` does: writes the code into a buffer in pieces, then creates the program
 * from the buffer. The buffer's address follows from payer, program and code, so a run after a crash writes only what
 * is missing. Resolves in the next slot, when the program can be called.
 * @throws as `sendInstructions`
 */
export async function deployProgram(rpc: SolanaRpc, deployment: ProgramDeployment): Promise<void> {
  const { payer, program, code, unitPrice, onProgress } = deployment
  const buffer = await programBufferAddress(payer.publicKey, program.publicKey, code)
  const rent = (bytes: number) => rpc.call<number>('getMinimumBalanceForRentExemption', [bytes])
  const { value: account } = await readAccount(rpc.call, buffer.address, {
    commitment: DEPLOYMENT_COMMITMENT,
  })
  if (!account) {
    const lamports = await rent(BUFFER_HEADER_BYTES + code.length)
    const made = createBufferInstructions(payer.publicKey, buffer, {
      codeBytes: code.length,
      lamports,
    })
    await sendInstructions(rpc, [payer], made, unitPrice)
  }
  const written = account && Buffer.from(account.data[0], 'base64').subarray(BUFFER_HEADER_BYTES)
  const offsets = Array.from(
    { length: Math.ceil(code.length / CODE_PIECE_BYTES) },
    (_, i) => i * CODE_PIECE_BYTES,
  )
  const pieceAt = (offset: number) => code.subarray(offset, offset + CODE_PIECE_BYTES)
  const missing = offsets.filter((offset) => {
    const piece = pieceAt(offset)
    return !written?.subarray(offset, offset + piece.length).equals(piece)
  })
  let count = offsets.length - missing.length
  await mapInBatches(missing, MAX_CONCURRENT_WRITES, async (offset) => {
    const instruction = writeBufferInstruction(
      buffer.address,
      payer.publicKey,
      offset,
      pieceAt(offset),
    )
    await sendInstructions(rpc, [payer], [instruction], unitPrice)
    onProgress?.(++count, offsets.length)
  })
  const accounts = { program: program.publicKey, buffer: buffer.address }
  const lamports = await rent(PROGRAM_ACCOUNT_BYTES)
  const made = deployBufferInstructions(payer.publicKey, accounts, {
    codeBytes: code.length,
    lamports,
  })
  await sendInstructions(rpc, [payer, program], made, unitPrice)
  const deployedAt = await getSlot(rpc.call, DEPLOYMENT_COMMITMENT)
  while ((await getSlot(rpc.call, DEPLOYMENT_COMMITMENT)) <= deployedAt) await sleep(SLOT_POLL_MS)
}

/** Reads a deployed program's code and upgrade authority. Null where no upgradeable program has this id. */
export async function readDeployedProgram(
  rpc: SolanaRpc,
  programId: PublicKey,
): Promise<ProgramData | null> {
  const { value } = await readAccount(rpc.call, programDataAddress(programId), {
    commitment: DEPLOYMENT_COMMITMENT,
  })
  return value && decodeProgramData(Buffer.from(value.data[0], 'base64'))
}

/** Pause before a transaction's status is read again, ms: the first pause, which doubles up to the longest. */
const FIRST_STATUS_POLL_MS = 50
const LONGEST_STATUS_POLL_MS = 1_000
/** Interval at which a transaction is sent again: a leader may drop it. */
const RESEND_INTERVAL_MS = 2_000

/**
 * Signs instructions as one transaction, paid by the first signer. Sends it after the node has simulated it, and waits
 * until it is confirmed.
 * @param unitPrice price of a compute unit, millionths of a lamport
 * @returns the signature
 * @throws Error with one sentence where the transaction fails or its blockhash expires; errors of `RpcNodes.call`
 */
export async function sendInstructions(
  rpc: SolanaRpc,
  signers: readonly [Keypair, ...Keypair[]],
  instructions: readonly TransactionInstruction[],
  unitPrice = 0,
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await readLatestBlockhash(
    rpc.call,
    DEPLOYMENT_COMMITMENT,
  )
  const transaction = new Transaction({
    feePayer: signers[0].publicKey,
    recentBlockhash: blockhash,
  })
  if (unitPrice > 0)
    transaction.add(ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPrice }))
  transaction.add(...instructions).sign(...signers)
  const bytes = transaction.serialize().toString('base64')
  const signature = bs58.encode(transaction.signature!)
  let sentMs = Number.NEGATIVE_INFINITY
  for (
    let pauseMs = FIRST_STATUS_POLL_MS;
    ;
    pauseMs = Math.min(LONGEST_STATUS_POLL_MS, 2 * pauseMs)
  ) {
    if (performance.now() - sentMs > RESEND_INTERVAL_MS) {
      const isFirst = sentMs === Number.NEGATIVE_INFINITY
      const options = {
        encoding: 'base64',
        preflightCommitment: DEPLOYMENT_COMMITMENT,
        skipPreflight: !isFirst,
      }
      await rpc.call('sendTransaction', [bytes, options])
      sentMs = performance.now()
    }
    const [status] = await readSignatureStatuses(rpc.call, [signature])
    if (status?.err)
      throw new Error(`The transaction ${signature} failed: ${JSON.stringify(status.err)}.`)
    if (status && hasReachedCommitment(status, DEPLOYMENT_COMMITMENT)) return signature
    const height = await rpc.call<number>('getBlockHeight', [{ commitment: DEPLOYMENT_COMMITMENT }])
    if (height > lastValidBlockHeight)
      throw new Error(
        `The cluster took no notice of ${signature}: run the command again, with a higher --unit-price.`,
      )
    await sleep(pauseMs)
  }
}
