import { createClusterRpc } from '../../chains/solana/chain.js'
import { readOwnAccounts } from '../../chains/solana/reads.js'
import { createRegistrar } from '../../chains/solana/registrar.js'
import type { SolanaConfig } from '../../config/index.js'

const COMMITMENT = 'confirmed'

/** Money of the registrar and of its relay authority, lamports. @throws Error where the program is not initialized */
export async function solanaFunds(cluster: Pick<SolanaConfig, 'rpcUrls' | 'genesisHash' | 'programId'>) {
  const rpc = createClusterRpc(cluster)
  const registrar = createRegistrar(cluster.programId)
  const [data] = await rpc.onOneNode((call) =>
    readOwnAccounts(call, registrar, [registrar.state], { commitment: COMMITMENT }),
  )
  if (!data) throw new Error(`The program ${cluster.programId} is not initialized: see \`clusterd solana init\`.`)
  const { keptLamports, heldLamports, relayAuthority, treasuryAuthority } = registrar.decodeState(data)
  const address = relayAuthority.toBase58()
  const { value } = await rpc.call<{ value: number }>('getBalance', [address, { commitment: COMMITMENT }])
  return {
    ...{ chain: 'solana', keptLamports, heldLamports, treasuryAuthority: treasuryAuthority.toBase58() },
    relayAuthority: { address, lamports: BigInt(value) },
  }
}
