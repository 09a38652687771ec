import { deployMissingContracts } from '../contracts/localContracts.js'
import { worldEvmAccounts } from '../world.js'
import { createChainActions, WorldError } from './actions.js'
import { type LocalChain, toChainsFileEntry } from './localChain.js'
import type { LocalChainDefinition } from './localChains.js'
import { fundAddresses, localChainClients } from './localClients.js'

const POLL_MS = 100

/**
 * Adds a running development chain (Foundry's anvil, Hardhat's node) to a local world: deploys the contracts on the
 * chain, and funds the world's accounts. The chain's owner keeps control of its process and mining. A chain that mines
 * on demand confirms a transaction once `mine` adds blocks.
 * @throws WorldError where no development chain answers
 */
export async function attachChain(
  definition: LocalChainDefinition,
  hubEid: number,
  rpcUrl: string,
): Promise<LocalChain> {
  const { label } = definition
  const { reader } = localChainClients({ rpcUrl, chainId: definition.chainId })
  const chainId = await reader.getChainId().catch((cause: Error) => {
    const text = `no chain answers at ${rpcUrl}, where "${label}" is attached: start it first.`
    throw new WorldError(text, { cause })
  })
  const attached = { ...definition, chainId, rpcUrl }
  const addresses = worldEvmAccounts().map(({ address }) => address)
  await fundAddresses(attached, addresses).catch((cause: Error) => {
    const text = `${rpcUrl} is no development chain: start \`anvil\` or \`hardhat node\` there.`
    throw new WorldError(text, { cause })
  })
  const { contracts, ...extras } = await deployMissingContracts(attached, hubEid, undefined)
  const wsUrl = rpcUrl.replace(/^http/, 'ws')
  const notOurs = (): never => {
    throw new WorldError(`chain "${label}" was attached: its process is yours to stop and start.`)
  }
  return {
    ...attached,
    ...extras,
    ...createChainActions({ label, rpcUrl, chainId }, null),
    wsUrl,
    config: toChainsFileEntry({ ...definition, chainId }, contracts, { rpcUrl, wsUrl }, POLL_MS),
    get pid() {
      return notOurs()
    },
    get anvil() {
      return notOurs()
    },
    stop: async () => notOurs(),
    kill: async () => notOurs(),
    restart: async () => notOurs(),
  }
}
