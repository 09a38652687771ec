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
import { programDataAddress, UPGRADEABLE_LOADER_PROGRAM } from '../admin.js'
import {
  readonlyAccount,
  readonlySignerAccount,
  SYSTEM_PROGRAM_ACCOUNT,
  toAnchorNumber,
  writableAccount,
  writableSignerAccount,
} from '../registrar.js'

/** Tags of the upgradeable loader's instructions (solana-loader-v3-interface): a u32, followed by fields in bincode. */
const LOADER_INSTRUCTION_TAG = { INITIALIZE_BUFFER: 0, WRITE: 1, DEPLOY_WITH_MAX_DATA_LEN: 2 }
/**
 * Layout of the loader's accounts (UpgradeableLoaderState in bincode): lengths and offsets in bytes, and the tag with
 * which program data begins.
 */
export const BUFFER_HEADER_BYTES = 37
export const PROGRAM_ACCOUNT_BYTES = 36
const PROGRAM_DATA_TAG = 3
const PROGRAM_DATA_HEADER_BYTES = 45
const PROGRAM_DATA_AUTHORITY_OFFSET = 13
/** Maximum length of the seed of an address (`createWithSeed`). */
const MAX_SEED_CHARS = 32

const REGISTRAR_FILE = new URL(
  '../../../../contracts/solana/registrar/registrar.so',
  import.meta.url,
)

export const readRegistrarCode = (): Buffer => readFileSync(REGISTRAR_FILE)

/**
 * Address of the account (buffer) into which a program's code is written, and the address's seed. The same payer, program
 * and code give the same address.
 */
export async function programBufferAddress(payer: PublicKey, program: PublicKey, code: Uint8Array) {
  const seed = createHash('sha256')
    .update(program.toBytes())
    .update(code)
    .digest('hex')
    .slice(0, MAX_SEED_CHARS)
  return { seed, address: await PublicKey.createWithSeed(payer, seed, UPGRADEABLE_LOADER_PROGRAM) }
}

/**
 * Instructions that create the buffer account. `payer` signs and pays, and may write into the buffer.
 * @param lamports the buffer's rent
 */
export function createBufferInstructions(
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
      programId: UPGRADEABLE_LOADER_PROGRAM,
    }),
    loaderInstruction(
      [writableAccount(address), readonlyAccount(payer)],
      LOADER_INSTRUCTION_TAG.INITIALIZE_BUFFER,
    ),
  ]
}

/** Instruction that writes a piece of the code. @param by the buffer's authority, who signs */
export const writeBufferInstruction = (
  buffer: PublicKey,
  by: PublicKey,
  offset: number,
  piece: Uint8Array,
) =>
  loaderInstruction(
    [writableAccount(buffer), readonlySignerAccount(by)],
    LOADER_INSTRUCTION_TAG.WRITE,
    encodeU32(offset),
    encodeU64(piece.length),
    piece,
  )

/**
 * Instructions that create the program from the buffer. The program's key and `payer` sign. `payer` becomes upgrade
 * authority.
 */
export function deployBufferInstructions(
  payer: PublicKey,
  { program, buffer }: { program: PublicKey; buffer: PublicKey },
  { codeBytes, lamports }: { codeBytes: number; lamports: number },
): TransactionInstruction[] {
  const account = {
    fromPubkey: payer,
    newAccountPubkey: program,
    programId: UPGRADEABLE_LOADER_PROGRAM,
  }
  const keys = [
    ...[
      writableSignerAccount(payer),
      writableAccount(programDataAddress(program)),
      writableAccount(program),
      writableAccount(buffer),
    ],
    ...[
      readonlyAccount(SYSVAR_RENT_PUBKEY),
      readonlyAccount(SYSVAR_CLOCK_PUBKEY),
      SYSTEM_PROGRAM_ACCOUNT,
      readonlySignerAccount(payer),
    ],
  ]
  return [
    SystemProgram.createAccount({ ...account, lamports, space: PROGRAM_ACCOUNT_BYTES }),
    loaderInstruction(keys, LOADER_INSTRUCTION_TAG.DEPLOY_WITH_MAX_DATA_LEN, encodeU64(codeBytes)),
  ]
}

export interface ProgramData {
  /** Slot of the last deployment. */
  slot: bigint
  /** Null where the program can't be upgraded. */
  upgradeAuthority: PublicKey | null
  code: Buffer
}

/** Decodes the account at `programDataAddress`. Null for any other account. */
export function decodeProgramData(data: Buffer): ProgramData | null {
  if (data.length < PROGRAM_DATA_HEADER_BYTES || data.readUInt32LE(0) !== PROGRAM_DATA_TAG)
    return null
  const hasAuthority = data[PROGRAM_DATA_AUTHORITY_OFFSET - 1] === 1
  return {
    slot: data.readBigUInt64LE(4),
    upgradeAuthority: hasAuthority
      ? new PublicKey(data.subarray(PROGRAM_DATA_AUTHORITY_OFFSET, PROGRAM_DATA_HEADER_BYTES))
      : null,
    code: data.subarray(PROGRAM_DATA_HEADER_BYTES),
  }
}

/** True if a deployed program's code is the registrar's. Zeros may follow the registrar's code. */
export function isRegistrarCode(code: Buffer): boolean {
  const expected = readRegistrarCode()
  return (
    code.subarray(0, expected.length).equals(expected) &&
    code.subarray(expected.length).every((byte) => byte === 0)
  )
}

function loaderInstruction(
  keys: AccountMeta[],
  tag: number,
  ...fields: Uint8Array[]
): TransactionInstruction {
  return new TransactionInstruction({
    programId: UPGRADEABLE_LOADER_PROGRAM,
    keys,
    data: Buffer.concat([encodeU32(tag), ...fields]),
  })
}

const encodeU32 = (value: number): Buffer =>
  toAnchorNumber(BigInt(value)).toArrayLike(Buffer, 'le', 4)
const encodeU64 = (value: number): Buffer =>
  toAnchorNumber(BigInt(value)).toArrayLike(Buffer, 'le', 8)
