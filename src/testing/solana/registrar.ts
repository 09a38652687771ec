import { type Connection, Keypair, type PublicKey } from '@solana/web3.js'
import { createSolanaRpc } from '../../chains/rpc/solana.js'
import { initializeRegistrarInstruction } from '../../chains/solana/admin.js'
import { deployProgram } from '../../chains/solana/deployment/deploy.js'
import { registrarCode } from '../../chains/solana/deployment/loader.js'
import { createRegistrarClient } from '../../chains/solana/registrar.js'
import { solanaOperatorKeypair } from './accounts.js'
import { sendSolanaTransaction } from './sendSolana.js'
import { writeSolanaProgram } from './surfpool.js'

/** Time after which a payment can be reclaimed: seven days. */
const RECLAIM_SECONDS = 604_800n

/**
 * Deploys the registrar under a fresh key and initializes it with the local world's accounts for relaying and treasury.
 * `payer` becomes its upgrade and admin authority and needs about a quarter of a SOL.
 * @param surfpool given if the cluster is a Surfpool, which accepts a program without transactions
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
    ? writeSolanaProgram(surfpool, program.publicKey.toBase58(), code, payer.publicKey.toBase58())
    : deployProgram(createSolanaRpc({ label: 'solana', urls: [connection.rpcEndpoint] }), {
        payer,
        program,
        code,
      }))
  const relay = solanaOperatorKeypair('relayer').publicKey
  const treasury = solanaOperatorKeypair('treasurer').publicKey
  const terms = { admin: payer.publicKey, relay, treasury, reclaimSeconds: RECLAIM_SECONDS }
  await sendSolanaTransaction(
    connection,
    [payer],
    initializeRegistrarInstruction(
      createRegistrarClient(program.publicKey.toBase58()),
      payer.publicKey,
      terms,
    ),
  )
  const slot = await connection.getSlot('confirmed')
  return { programId: program.publicKey, slot }
}
