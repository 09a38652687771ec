import type { ChainPort } from '../../chains/chain.js'
import { ok } from '../answer.js'
import { route } from '../route.js'
import { z } from '../schema.js'

const NetworkSchema = z
  .object({
    network: z.string().openapi({ description: 'Label of the chain, as registrations name it', example: '8453' }),
    chainId: z.int().nullable().openapi({ description: 'EIP-155 id; null where the chain has none' }),
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
  async handle(_request, { chains }) {
    return ok(chains.map(view).sort((a, b) => a.role.localeCompare(b.role)))
  },
})

const view = ({ label, role, network, gasToken, isWatchOnly, smartWallets }: ChainPort) => ({
  network: label,
  chainId: smartWallets?.chainId ?? null,
  role,
  isTestnet: network === 'testnet',
  gasToken,
  canRegister: !isWatchOnly,
})

export const networkRoutes = [networks]
