import type { Hex } from 'viem'
import { createChainRpc } from '../../chains/evm/chain.js'
import type { Side } from '../../chains/evm/deployment/item.js'
import type { SendingChain } from '../../chains/evm/deployment/send.js'
import { readChainState } from '../../chains/evm/deployment/state.js'
import { type ChainWishes, wishesOf } from '../../config/deployment.js'
import { ConfigError, type DraftChain, labelsOf, presetOf, readDraft, readEnvironment } from '../../config/index.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import type { NetworkOptions } from '../values.js'

/** A network of the chains file, finished or not, with what is wished of its contracts. */
export interface OpenNetwork {
  network: Network
  /** Path of the chains file. */
  file: string
  /** Hub first. */
  wishes: readonly ChainWishes[]
  configs: ReadonlyMap<string, DraftChain>
  chains: ReadonlyMap<string, SendingChain>
  /** Owners by the chains' labels. */
  owners: ReadonlyMap<string, Hex>
}

/** Opens the network that the options name, or the only one with a deployment, else with chains. @throws ConfigError */
export function openNetwork(options: NetworkOptions): OpenNetwork {
  const { chainsFile: file } = readEnvironment()
  const draft = readDraft(file)
  const network = networkOf(options, draft)
  const ours = draft.chains.filter((chain) => chain.network === network)
  const configs = new Map(ours.map((chain) => [chain.label, chain]))
  const wishes = wishesOf(draft, network, (label) => {
    const preset = presetOf(label)
    // a local chain that answers to a public label has nothing of LayerZero's there
    return configs.get(label)?.chainId === preset?.chainId ? preset?.layerZero : undefined
  })
  const chains = new Map(
    ours.map((chain) => [
      chain.label,
      { label: chain.label, chainId: chain.chainId, rpc: createChainRpc(chain) } satisfies SendingChain,
    ]),
  )
  return { network, file, wishes, configs, chains, owners: new Map(wishes.map(({ label, owner }) => [label, owner])) }
}

function networkOf(
  { testnet, mainnet }: NetworkOptions,
  { deployment, chains }: ReturnType<typeof readDraft>,
): Network {
  if (testnet) return 'testnet'
  if (mainnet) return 'mainnet'
  const wished = NETWORKS.filter((network) => deployment[network] !== undefined)
  if (wished.length > 1) throw new ConfigError('The chains file deploys both networks: say --mainnet or --testnet.')
  // where nothing is wished yet, the chains say which network's wishes are missing
  return wished[0] ?? NETWORKS.find((network) => chains.some((chain) => chain.network === network)) ?? 'mainnet'
}

/** Reads what each chain shows. @throws ChainUnavailableError */
export function readSides({ network, wishes, chains }: OpenNetwork): Promise<Side[]> {
  const hub = wishes.find(({ role }) => role === 'hub')!
  const own = wishes.map(({ eid }) => eid)
  const strangeEids = labelsOf(network).flatMap((label) => {
    const eid = presetOf(label)?.eid
    return eid === undefined || own.includes(eid) ? [] : [eid]
  })
  return Promise.all(
    wishes.map(async (one): Promise<Side> => {
      const farEids = one === hub ? own.filter((eid) => eid !== hub.eid) : [hub.eid]
      const question = { wishes: one, hubEid: hub.eid, farEids, strangeEids }
      const { rpc } = chains.get(one.label)!
      return { wishes: one, state: await rpc.onOneNode((ask) => readChainState(ask, question)) }
    }),
  )
}
