import type { ChainPort, SolanaPort } from '../../chains/chain.js'
import { ok } from '../http/answer.js'
import { route } from '../http/route.js'
import { z } from '../http/schema.js'

/** Decimals of SOL: 10^9 lamports. */
const SOL_DECIMALS = 9

const NetworkSchema = z
  .object({
    network: z.string().openapi({ description: 'Label of the chain, as registrations name it', example: '8453' }),
    chainId: z.int().nullable().openapi({ description: 'EIP-155 id; null on Solana, which has none' }),
    role: z.enum(['hub', 'spoke']),
    isTestnet: z.boolean(),
    gasToken: z.object({ symbol: z.string(), decimals: z.int() }),
    canRegister: z.boolean().openapi({ description: 'false: only watched here' }),
  })
  .openapi('Network')

const networks = route({
  method: 'get',
  path: '/v1/networks',
  tag: 'Registration',
  summary: 'The chains that names can be registered from',
  description: 'Of both networks. A wallet has to be on the chain with this id before it pays.',
  responses: { 200: { description: 'Hubs first', schema: z.array(NetworkSchema) } },
  async handle(_request, { chains, solana }) {
    return ok([...chains.map(evmView).sort((a, b) => a.role.localeCompare(b.role)), ...solana.map(solanaView)])
  },
})

const evmView = ({ label, role, network, gasToken, isWatchOnly, smartWallets }: ChainPort) => ({
  network: label,
  chainId: smartWallets?.chainId ?? null,
  role,
  isTestnet: network === 'testnet',
  gasToken,
  canRegister: !isWatchOnly,
})

const solanaView = ({ label, network }: SolanaPort) => ({
  network: label,
  chainId: null,
  role: 'spoke',
  isTestnet: network === 'testnet',
  gasToken: { symbol: 'SOL', decimals: SOL_DECIMALS },
  canRegister: true,
})

export const networkRoutes = [networks]
