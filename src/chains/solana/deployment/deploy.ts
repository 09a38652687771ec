import { setTimeout as sleep } from 'node:timers/promises'
import type { Keypair, PublicKey } from '@solana/web3.js'
import { inBatches } from '../../rpc/nodes.js'
import type { SolanaRpc } from '../../rpc/solana.js'
import { programDataAddress } from '../admin.js'
import { getSlot, readAccount } from '../reads.js'
import {
  BUFFER_HEADER_BYTES,
  bufferOf,
  createBuffer,
  decodeProgramData,
  deployBuffer,
  PROGRAM_BYTES,
  type ProgramData,
  writeBuffer,
} from './loader.js'
import { sendInstructions } from './send.js'

const COMMITMENT = 'confirmed'
/** Size of a write: a transaction has 1,232 bytes, of which the rest takes 300. */
const PIECE_BYTES = 900
const WRITES_AT_ONCE = 8
const SLOT_POLL_MS = 50

export interface ProgramDeployment {
  /** Pays, and becomes upgrade authority. */
  payer: Keypair
  /** Its public key becomes the program's id. */
  program: Keypair
  code: Buffer
  unitPrice?: number
  onProgress?: (written: number, pieces: number) => void
}

/**
 * Deploys a program as `solana program deploy` does: a buffer written in pieces, then the program from it. The buffer's
 * address follows from payer, program and code, so that a run after a crash writes only what is missing. Resolves in
 * the next slot, when the program can be called.
 * @throws Error with one sentence
 */
export async function deployProgram(rpc: SolanaRpc, deployment: ProgramDeployment): Promise<void> {
  const { payer, program, code, unitPrice, onProgress } = deployment
  const buffer = await bufferOf(payer.publicKey, program.publicKey, code)
  const rent = (bytes: number) => rpc.call<number>('getMinimumBalanceForRentExemption', [bytes])
  const found = await readAccount(rpc.call, buffer.address, { commitment: COMMITMENT })
  if (!found) {
    const lamports = await rent(BUFFER_HEADER_BYTES + code.length)
    const made = createBuffer(payer.publicKey, buffer, { codeBytes: code.length, lamports })
    await sendInstructions(rpc, [payer], made, unitPrice)
  }
  const written = found && Buffer.from(found.data[0], 'base64').subarray(BUFFER_HEADER_BYTES)
  const offsets = Array.from({ length: Math.ceil(code.length / PIECE_BYTES) }, (_, i) => i * PIECE_BYTES)
  const pieceAt = (offset: number) => code.subarray(offset, offset + PIECE_BYTES)
  const missing = offsets.filter((offset) => {
    const piece = pieceAt(offset)
    return !written?.subarray(offset, offset + piece.length).equals(piece)
  })
  let count = offsets.length - missing.length
  await inBatches(missing, WRITES_AT_ONCE, async (offset) => {
    const instruction = writeBuffer(buffer.address, payer.publicKey, offset, pieceAt(offset))
    await sendInstructions(rpc, [payer], [instruction], unitPrice)
    onProgress?.(++count, offsets.length)
  })
  const accounts = { program: program.publicKey, buffer: buffer.address }
  const lamports = await rent(PROGRAM_BYTES)
  const made = deployBuffer(payer.publicKey, accounts, { codeBytes: code.length, lamports })
  await sendInstructions(rpc, [payer, program], made, unitPrice)
  const deployedAt = await getSlot(rpc.call, COMMITMENT)
  while ((await getSlot(rpc.call, COMMITMENT)) <= deployedAt) await sleep(SLOT_POLL_MS)
}

/** State of a program on a cluster; null where it is none that can be upgraded. */
export async function readProgram(rpc: SolanaRpc, programId: PublicKey): Promise<ProgramData | null> {
  const account = await readAccount(rpc.call, programDataAddress(programId), { commitment: COMMITMENT })
  return account && decodeProgramData(Buffer.from(account.data[0], 'base64'))
}
