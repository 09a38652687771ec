import { deployMissingContracts } from '../contracts/localContracts.js'
import { createUpstream } from '../faultProxy/upstream.js'
import { worldEvmAccounts } from '../world.js'
import { createChainActions, WorldError } from './actions.js'
import { type LocalChain, toChainsFileEntry } from './localChain.js'
import type { LocalChainDefinition } from './localChains.js'
import { fundAddresses } from './localClients.js'

const POLL_MS = 100
const ANSWER_MS = 5_000

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
  const chainId = await chainIdOf(label, rpcUrl)
  const own = { ...definition, chainId, rpcUrl }
  const addresses = worldEvmAccounts().map(({ address }) => address)
  await fundAddresses(own, addresses).catch((cause: Error) => {
    const text = `${rpcUrl} is no development chain: start \`anvil\` or \`hardhat node\` there.`
    throw new WorldError(text, { cause })
  })
  const { contracts, ...extras } = await deployMissingContracts(own, hubEid, undefined)
  const wsUrl = rpcUrl.replace(/^http/, 'ws')
  const { end: _, ...verbs } = createChainActions({ label, rpcUrl, chainId, blockMs: null })
  const notOurs = (): never => {
    throw new WorldError(`chain "${label}" was attached: its process is yours to stop and start.`)
  }
  return {
    ...own,
    ...extras,
    ...verbs,
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

async function chainIdOf(label: string, rpcUrl: string): Promise<number> {
  const answer = await createUpstream(rpcUrl, ANSWER_MS)('eth_chainId', []).catch(() => null)
  const chainId = Number(answer?.result)
  if (chainId > 0) return chainId
  throw new WorldError(
    `no chain answers at ${rpcUrl}, where "${label}" is attached: start it first.`,
  )
}
