import { readFileSync } from 'node:fs'
import { type Connection, Keypair, type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { createRegistrar, registrarCoder } from '../../chains/solana/registrar.js'
import { solanaOperator } from './accounts.js'
import { deployProgram, programDataAddress } from './deployProgram.js'
import { sendSolana } from './sendSolana.js'
import { writeProgram } from './surfpool.js'

const PROGRAM = new URL('../../../contracts/solana/registrar/registrar.so', import.meta.url)

/** Built program in the loader's form. */
export const registrarCode = (): Uint8Array => readFileSync(PROGRAM)

/** A registrar on a cluster with its authorities. */
export interface DeployedRegistrar {
  programId: PublicKey
  /** Slot of its deployment. */
  slot: number
  relayAuthority: Keypair
  treasuryAuthority: Keypair
}

/**
 * Deploys the registrar under a fresh key and initializes it. `payer` becomes its upgrade authority and needs about a
 * quarter of a SOL.
 * @param surfpool the cluster if it is a Surfpool, which takes a program without transactions
 */
export async function deployRegistrar(
  connection: Connection,
  payer: Keypair,
  surfpool?: { rpcUrl: string },
): Promise<DeployedRegistrar> {
  const program = Keypair.generate()
  const code = registrarCode()
  await (surfpool
    ? writeProgram(surfpool, program.publicKey.toBase58(), code, payer.publicKey.toBase58())
    : deployProgram(connection, { payer, program, code }))
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

/** `initialize`, signed and paid by the program's upgrade authority. */
export function initializeInstruction(
  programId: PublicKey,
  upgradeAuthority: PublicKey,
  relayAuthority: PublicKey,
  treasuryAuthority: PublicKey,
): TransactionInstruction {
  const { state, treasury } = createRegistrar(programId.toBase58())
  return new TransactionInstruction({
    programId,
    keys: [
      { pubkey: upgradeAuthority, isSigner: true, isWritable: true },
      { pubkey: state, isSigner: false, isWritable: true },
      { pubkey: treasury, isSigner: false, isWritable: true },
      { pubkey: programDataAddress(programId), isSigner: false, isWritable: false },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
    ],
    data: registrarCoder.instruction.encode('initialize', {
      relay_authority: relayAuthority,
      treasury_authority: treasuryAuthority,
    }),
  })
}
