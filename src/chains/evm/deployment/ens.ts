import { type Abi, encodeDeployData, type Hex, namehash, parseAbi, zeroAddress } from 'viem'
import type { DraftEnsParentSettings } from '../../../config/chainsFile.js'
import type { DraftChainConfig } from '../../../config/evmChain.js'
import { fallbackIfRefused } from '../../rpc/errors.js'
import { createEvmRpc, type RpcCall } from '../../rpc/evm.js'
import { createEvmChainRpc } from '../chain.js'
import { ensResolverAbi, ensResolverBytecode } from '../contracts/index.js'
import { createContractReader } from '../contracts/read.js'
import { compareContractCode, compareContractOwner, readContractSettingText } from './compare.js'
import { buildContractCreation } from './creation.js'
import {
  type ComparedSetting,
  compareSetting,
  DEPLOYMENT_STEP_ORDER,
  ownerCallStep,
} from './item.js'
import type { DeploymentChain } from './send.js'

/** ENS's registry (ERC-137) on Ethereum, Sepolia and Holesky. */
export const ENS_REGISTRY: Hex = '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e'

/**
 * Functions of the ENS registry. The NameWrapper, which may own a name in the registry, has `ownerOf` and the same
 * `setResolver`.
 */
export const ensRegistryAbi = parseAbi([
  'function owner(bytes32 node) view returns (address)',
  'function resolver(bytes32 node) view returns (address)',
  'function setResolver(bytes32 node, address resolver)',
  'function ownerOf(uint256 node) view returns (address)',
])

/** Desired settings of the resolver of an ENS name: owner, the gateway's signer, and the gateway's URL. */
type DesiredEnsSettings = DraftEnsParentSettings &
  Record<'owner' | 'signer' | 'salt', Hex> & { chain: string; url: string }

/**
 * The chain of the ENS resolver: a chain of the chains file, or a chain with RPC URLs of its own.
 * @throws Error with one sentence
 */
export function ensResolverChainOf(
  chains: readonly DraftChainConfig[],
  { chainId, rpcUrls: urls }: DraftEnsParentSettings,
): DeploymentChain {
  const config = chains.find((chain) => chain.chainId === chainId)
  const label = config?.label ?? String(chainId)
  if (config) return { ...config, rpc: createEvmChainRpc(config) }
  if (urls) return { label, chainId, local: false, rpc: createEvmRpc({ label, urls, chainId }) }
  throw new Error(
    `The chains file has no chain ${chainId}: name its nodes in \`ens\`, as \`rpcUrls\`.`,
  )
}

/** Compares the resolver's code, owner, signer and URL, and the resolver of the ENS name, with the desired settings. */
export async function compareEnsDeployment(
  ask: RpcCall,
  desired: DesiredEnsSettings,
): Promise<ComparedSetting[]> {
  const { chain, owner, signer, salt, url } = desired
  const args = [owner, signer, [url]] as const
  const creation = buildContractCreation(
    salt,
    encodeDeployData({ abi: ensResolverAbi, bytecode: ensResolverBytecode, args }),
  )
  const at = { chain, what: 'ENS resolver', at: desired.resolver ?? creation.address }
  const code = await compareContractCode(ask, chain, { what: at.what, address: at.at, creation })
  const named = await compareNameResolver(ask, desired, at.at)
  if (!code.isRight) return [code, named]
  const missing = !desired.resolver && {
    advice: `Put "resolver": "${at.at}" into \`ens\` of the chains file.`,
  }
  const { callee, call, items } = await compareContractOwner(ask, at, owner)
  const signers = await Promise.all(
    [0n, 1n].map((place) => readContractSettingText(ask, at.at, 'signers', [place])),
  )
  const signerText = signers.filter((one) => one !== zeroAddress).join(', ')
  // the resolver has two slots for signers. A new signer takes the free slot first, so that names resolve while the API
  // processes change their keys
  const signs = signers.includes(signer)
  const place = signers.findIndex((one) => (signs ? one !== signer : one === zeroAddress))
  const help = signs
    ? 'Clear the other once each API has this key.'
    : place < 0 && 'Clear one by hand: none is free.'
  const ofResolver = createContractReader(ask, at.at, ensResolverAbi)
  const first = await fallbackIfRefused(ofResolver('urls', [0n]), 'none')
  return [
    { ...code, ...missing },
    ...items,
    compareSetting(callee, 'signer', {
      wanted: signer,
      found: signerText,
      advice: signerText !== signer && help,
      step: place < 0 ? null : call('setSigner', [BigInt(place), signs ? zeroAddress : signer]),
    }),
    compareSetting(callee, 'URL', {
      wanted: url,
      found: first,
      step: call('setUrls', [[url]]),
    }),
    named,
  ]
}

/** Compares the ENS name's resolver in the ENS registry. The owner of the ENS name can set the resolver. */
async function compareNameResolver(
  ask: RpcCall,
  desired: DesiredEnsSettings,
  resolver: Hex,
): Promise<ComparedSetting> {
  const { chain, parent, registry = ENS_REGISTRY } = desired
  const node = namehash(parent)
  const read = async (to: Hex, functionName: string, key: Hex | bigint = node) => {
    const request = createContractReader(ask, to, ensRegistryAbi as Abi)(functionName, [key])
    return String(await fallbackIfRefused(request, zeroAddress)).toLowerCase() as Hex
  }
  const holder = await read(registry, 'owner')
  const wrapped = await read(holder, 'ownerOf', BigInt(node))
  const [at, owner] = wrapped === zeroAddress ? [registry, holder] : [holder, wrapped]
  const callee = { chain, what: `ENS name ${parent}`, at, owner }
  const by = at === registry ? 'registry' : 'NameWrapper, which holds it,'
  const does = `makes ${resolver} the resolver of ${parent} by the ${by} ${at}`
  const call = { abi: ensRegistryAbi, functionName: 'setResolver', args: [node, resolver], does }
  const isNobodys = owner === zeroAddress
  return compareSetting(callee, 'resolver', {
    wanted: resolver,
    found: await read(registry, 'resolver'),
    ...(isNobodys
      ? { rank: DEPLOYMENT_STEP_ORDER.deploy, step: null }
      : { rank: DEPLOYMENT_STEP_ORDER.name, step: ownerCallStep(callee, call) }),
    advice:
      isNobodys &&
      `Nobody owns ${parent} in the registry ${registry}: register it, or correct \`ens\`.`,
  })
}
