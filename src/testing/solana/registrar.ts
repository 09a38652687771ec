import { type Connection, Keypair, type PublicKey } from '@solana/web3.js'
import { createSolanaRpc } from '../../chains/rpc/solana.js'
import { initializeRegistrarInstruction } from '../../chains/solana/admin.js'
import { deployProgram, sendInstructions } from '../../chains/solana/deployment/deploy.js'
import { readRegistrarCode } from '../../chains/solana/deployment/loader.js'
import { createRegistrarClient } from '../../chains/solana/registrar.js'
import { solanaOperatorKeypair } from './accounts.js'

/** Time after which a payment can be reclaimed: seven days. */
const RECLAIM_SECONDS = 604_800n

/**
 * Deploys the registrar under a fresh key and initializes it with the local world's accounts for relaying and treasury.
 * `payer` becomes its upgrade and admin authority and needs about a quarter of a SOL.
 * @param isSurfpool true if Surfpool runs the chain, which accepts a program without transactions
 * @returns the program's id, and the newest slot after its initialization: no payment is earlier
 */
export async function deployRegistrar(
  connection: Connection,
  payer: Keypair,
  isSurfpool = false,
): Promise<{ programId: PublicKey; slot: number }> {
  const rpc = createSolanaRpc({ rpcUrls: [connection.rpcEndpoint] })
  const program = Keypair.generate()
  const programId = program.publicKey.toBase58()
  const code = readRegistrarCode()
  if (isSurfpool) {
    const upgradeAuthority = payer.publicKey.toBase58()
    await rpc.call('surfnet_writeProgram', [programId, code.toString('hex'), 0, upgradeAuthority])
  } else {
    await deployProgram(rpc, { payer, program, code })
  }
  const relay = solanaOperatorKeypair('relayer').publicKey
  const treasury = solanaOperatorKeypair('treasurer').publicKey
  const terms = { admin: payer.publicKey, relay, treasury, reclaimSeconds: RECLAIM_SECONDS }
  const client = createRegistrarClient(programId)
  await sendInstructions(
    rpc,
    [payer],
    [initializeRegistrarInstruction(client, payer.publicKey, terms)],
  )
  const slot = await connection.getSlot('confirmed')
  return { programId: program.publicKey, slot }
}
