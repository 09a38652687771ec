import { readFileSync } from 'node:fs'
import { BorshCoder, type Idl } from '@coral-xyz/anchor'
import { type Connection, Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { solanaOperator } from './accounts.js'
import { deployProgram, programDataAddress } from './deployProgram.js'
import { sendSolana } from './sendSolana.js'

const PROGRAM_FOLDER = new URL('../../../contracts/solana/registrar/', import.meta.url)

/** The built program, as the loader takes it. */
export const registrarCode = (): Uint8Array => readFileSync(new URL('registrar.so', PROGRAM_FOLDER))

/** The program's interface in Anchor's format. */
export const registrarIdl = (): Idl => JSON.parse(readFileSync(new URL('idl.json', PROGRAM_FOLDER), 'utf8')) as Idl

/** A registrar on a cluster, with who may do what there. */
export interface DeployedRegistrar {
  programId: PublicKey
  /** The slot after which it stood ready. */
  slot: number
  relayAuthority: Keypair
  treasuryAuthority: Keypair
}

export function registrarAddresses(programId: PublicKey): { state: PublicKey; treasury: PublicKey } {
  const find = (seed: string) => PublicKey.findProgramAddressSync([Buffer.from(seed)], programId)[0]
  return { state: find('state'), treasury: find('treasury') }
}

/** Deploys the registrar under a fresh key and initializes it. `payer` needs about a quarter of a SOL. */
export async function deployRegistrar(connection: Connection, payer: Keypair): Promise<DeployedRegistrar> {
  const program = Keypair.generate()
  await deployProgram(connection, { payer, program, code: registrarCode() })
  const relayAuthority = solanaOperator('relayer')
  const treasuryAuthority = solanaOperator('treasurer')
  await sendSolana(
    connection,
    [payer],
    initializeInstruction(program.publicKey, payer.publicKey, relayAuthority.publicKey, treasuryAuthority.publicKey),
  )
  const slot = await connection.getSlot('confirmed')
  return { programId: program.publicKey, slot, relayAuthority, treasuryAuthority }
}

/** `initialize`, signed by the program's upgrade authority, who pays. */
export function initializeInstruction(
  programId: PublicKey,
  upgradeAuthority: PublicKey,
  relayAuthority: PublicKey,
  treasuryAuthority: PublicKey,
): TransactionInstruction {
  const { state, treasury } = registrarAddresses(programId)
  return new TransactionInstruction({
    programId,
    keys: [
      { pubkey: upgradeAuthority, isSigner: true, isWritable: true },
      { pubkey: state, isSigner: false, isWritable: true },
      { pubkey: treasury, isSigner: false, isWritable: true },
      { pubkey: programDataAddress(programId), isSigner: false, isWritable: false },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
    ],
    data: new BorshCoder(registrarIdl()).instruction.encode('initialize', {
      relay_authority: relayAuthority,
      treasury_authority: treasuryAuthority,
    }),
  })
}
