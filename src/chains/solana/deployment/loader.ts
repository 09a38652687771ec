import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  type AccountMeta,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { programDataAddress, UPGRADEABLE_LOADER } from '../admin.js'
import { authority, big, reads, SYSTEM, signs, writes } from '../registrar.js'

/** The upgradeable loader (solana-loader-v3-interface): u32 tags and fields in bincode. */
const INSTRUCTION = { INITIALIZE_BUFFER: 0, WRITE: 1, DEPLOY_WITH_MAX_DATA_LEN: 2 }
const PROGRAM_DATA_TAG = 3
export const BUFFER_HEADER_BYTES = 37
export const PROGRAM_BYTES = 36
const PROGRAM_DATA_HEADER_BYTES = 45
const AUTHORITY_AT = 13
const SEED_CHARS = 32

const REGISTRAR = new URL('../../../../contracts/solana/registrar/registrar.so', import.meta.url)

export const registrarCode = (): Buffer => readFileSync(REGISTRAR)

/** Code is written into it: the same for the same payer, program and code. */
export async function bufferOf(payer: PublicKey, program: PublicKey, code: Uint8Array) {
  const seed = createHash('sha256')
    .update(program.toBytes())
    .update(code)
    .digest('hex')
    .slice(0, SEED_CHARS)
  return { seed, address: await PublicKey.createWithSeed(payer, seed, UPGRADEABLE_LOADER) }
}

/** Signed and paid by `payer`, who may write into the buffer. @param lamports the buffer's rent */
export function createBuffer(
  payer: PublicKey,
  { seed, address }: { seed: string; address: PublicKey },
  { codeBytes, lamports }: { codeBytes: number; lamports: number },
): TransactionInstruction[] {
  const account = { fromPubkey: payer, basePubkey: payer, seed, newAccountPubkey: address }
  const space = BUFFER_HEADER_BYTES + codeBytes
  return [
    SystemProgram.createAccountWithSeed({
      ...account,
      space,
      lamports,
      programId: UPGRADEABLE_LOADER,
    }),
    loaderInstruction([writes(address), reads(payer)], INSTRUCTION.INITIALIZE_BUFFER),
  ]
}

/** Writes a piece of the code. @param by the buffer's authority, who signs */
export const writeBuffer = (buffer: PublicKey, by: PublicKey, offset: number, piece: Uint8Array) =>
  loaderInstruction(
    [writes(buffer), authority(by)],
    INSTRUCTION.WRITE,
    u32(offset),
    u64(piece.length),
    piece,
  )

/** Signed by the program's key and by `payer`, who becomes upgrade authority. */
export function deployBuffer(
  payer: PublicKey,
  { program, buffer }: { program: PublicKey; buffer: PublicKey },
  { codeBytes, lamports }: { codeBytes: number; lamports: number },
): TransactionInstruction[] {
  const account = { fromPubkey: payer, newAccountPubkey: program, programId: UPGRADEABLE_LOADER }
  const keys = [
    ...[signs(payer), writes(programDataAddress(program)), writes(program), writes(buffer)],
    ...[reads(SYSVAR_RENT_PUBKEY), reads(SYSVAR_CLOCK_PUBKEY), SYSTEM, authority(payer)],
  ]
  return [
    SystemProgram.createAccount({ ...account, lamports, space: PROGRAM_BYTES }),
    loaderInstruction(keys, INSTRUCTION.DEPLOY_WITH_MAX_DATA_LEN, u64(codeBytes)),
  ]
}

export interface ProgramData {
  /** Slot of its last deployment. */
  slot: bigint
  /** Null where the program is final. */
  upgradeAuthority: PublicKey | null
  code: Buffer
}

/** Reads the account at `programDataAddress`; null for anything else. */
export function decodeProgramData(data: Buffer): ProgramData | null {
  if (data.length < PROGRAM_DATA_HEADER_BYTES || data.readUInt32LE(0) !== PROGRAM_DATA_TAG)
    return null
  const hasAuthority = data[AUTHORITY_AT - 1] === 1
  return {
    slot: data.readBigUInt64LE(4),
    upgradeAuthority: hasAuthority
      ? new PublicKey(data.subarray(AUTHORITY_AT, PROGRAM_DATA_HEADER_BYTES))
      : null,
    code: data.subarray(PROGRAM_DATA_HEADER_BYTES),
  }
}

/** True if the code is the registrar's: what is left of the account behind it is zero. */
export function isRegistrar(code: Buffer): boolean {
  const own = registrarCode()
  return (
    code.subarray(0, own.length).equals(own) &&
    code.subarray(own.length).every((byte) => byte === 0)
  )
}

function loaderInstruction(
  keys: AccountMeta[],
  tag: number,
  ...fields: Uint8Array[]
): TransactionInstruction {
  return new TransactionInstruction({
    programId: UPGRADEABLE_LOADER,
    keys,
    data: Buffer.concat([u32(tag), ...fields]),
  })
}

const u32 = (value: number): Buffer => big(BigInt(value)).toArrayLike(Buffer, 'le', 4)
const u64 = (value: number): Buffer => big(BigInt(value)).toArrayLike(Buffer, 'le', 8)
