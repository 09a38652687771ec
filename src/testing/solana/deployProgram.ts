import {
  type Connection,
  Keypair,
  type PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { programDataAddress, UPGRADEABLE_LOADER } from '../../chains/solana/admin.js'
import { sleep } from '../processes/processes.js'
import { sendSolana, sendSolanaEach } from './sendSolana.js'

/** Instructions of that loader (solana-loader-v3-interface): u32 tags, bincode. */
const LOADER_INSTRUCTION = { INITIALIZE_BUFFER: 0, WRITE: 1, DEPLOY_WITH_MAX_DATA_LEN: 2 }
const BUFFER_HEADER_BYTES = 37
const PROGRAM_BYTES = 36
/** Size of a write: a transaction has 1,232 bytes, which leaves enough for the rest. */
const CHUNK_BYTES = 1_000

/**
 * Deploys a program as `solana program deploy` does: a buffer written in pieces, then the program from it. The payer
 * becomes its upgrade authority. Resolves in the next slot, when the program can be called.
 */
export async function deployProgram(
  connection: Connection,
  { payer, program, code }: { payer: Keypair; program: Keypair; code: Uint8Array },
): Promise<void> {
  const buffer = Keypair.generate()
  await createBuffer(connection, payer, buffer, code.length)
  const chunks = Array.from({ length: Math.ceil(code.length / CHUNK_BYTES) }, (_, n) => n * CHUNK_BYTES)
  await sendSolanaEach(
    connection,
    [payer],
    chunks.map((offset) => [
      loaderInstruction(
        [w(buffer.publicKey), signer(payer.publicKey)],
        LOADER_INSTRUCTION.WRITE,
        u32(offset),
        vector(code.subarray(offset, offset + CHUNK_BYTES)),
      ),
    ]),
  )
  await sendSolana(
    connection,
    [payer, program],
    await accountCreation(connection, payer, program, PROGRAM_BYTES),
    loaderInstruction(
      [
        { ...signer(payer.publicKey), isWritable: true },
        w(programDataAddress(program.publicKey)),
        w(program.publicKey),
        w(buffer.publicKey),
        r(SYSVAR_RENT_PUBKEY),
        r(SYSVAR_CLOCK_PUBKEY),
        r(SystemProgram.programId),
        signer(payer.publicKey),
      ],
      LOADER_INSTRUCTION.DEPLOY_WITH_MAX_DATA_LEN,
      u64(code.length),
    ),
  )
  await nextSlot(connection)
}

async function createBuffer(connection: Connection, payer: Keypair, buffer: Keypair, codeBytes: number): Promise<void> {
  await sendSolana(
    connection,
    [payer, buffer],
    await accountCreation(connection, payer, buffer, BUFFER_HEADER_BYTES + codeBytes),
    loaderInstruction([w(buffer.publicKey), r(payer.publicKey)], LOADER_INSTRUCTION.INITIALIZE_BUFFER),
  )
}

/** Creation of an account of the loader's. */
async function accountCreation(connection: Connection, payer: Keypair, account: Keypair, space: number) {
  const lamports = await connection.getMinimumBalanceForRentExemption(space)
  const keys = { fromPubkey: payer.publicKey, newAccountPubkey: account.publicKey }
  return SystemProgram.createAccount({ ...keys, lamports, space, programId: UPGRADEABLE_LOADER })
}

async function nextSlot(connection: Connection): Promise<void> {
  const deployedAt = await connection.getSlot('confirmed')
  while ((await connection.getSlot('confirmed')) <= deployedAt) await sleep(20)
}

type Meta = TransactionInstruction['keys'][number]
const r = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: false, isWritable: false })
const w = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: false, isWritable: true })
const signer = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: true, isWritable: false })

function loaderInstruction(keys: Meta[], tag: number, ...fields: Buffer[]): TransactionInstruction {
  const data = Buffer.concat([u32(tag), ...fields])
  return new TransactionInstruction({ programId: UPGRADEABLE_LOADER, keys, data })
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

const vector = (bytes: Uint8Array): Buffer => Buffer.concat([u64(bytes.length), bytes])
