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

/**
 * Deploys the registrar under a fresh key and initializes it for the world's operators. `payer` becomes its upgrade
 * authority and needs about a quarter of a SOL.
 * @param surfpool the cluster if it is a Surfpool, which takes a program without transactions
 * @returns the program's id and the slot of its deployment
 */
export async function deployRegistrar(
  connection: Connection,
  payer: Keypair,
  surfpool?: { rpcUrl: string },
): Promise<{ programId: PublicKey; slot: number }> {
  const program = Keypair.generate()
  const code = registrarCode()
  await (surfpool
    ? writeProgram(surfpool, program.publicKey.toBase58(), code, payer.publicKey.toBase58())
    : deployProgram(connection, { payer, program, code }))
  const [relayer, treasurer] = [solanaOperator('relayer').publicKey, solanaOperator('treasurer').publicKey]
  const initialize = initializeInstruction(program.publicKey, payer.publicKey, relayer, treasurer)
  await sendSolana(connection, [payer], initialize)
  const slot = await connection.getSlot('confirmed')
  return { programId: program.publicKey, slot }
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
