import { type Abi, type Hex, zeroAddress } from 'viem'
import type { DesiredChainDeployment } from '../../../config/desired.js'
import { fallbackIfRefused } from '../../rpc/errors.js'
import type { RpcCall } from '../../rpc/nodes.js'
import { ensResolverAbi, hubAbi, layerZeroEndpointAbi } from '../contracts/index.js'
import { createContractReader } from '../contracts/read.js'
import { compareBridgeSettings } from './bridge.js'
import {
  DEPLOYMENT_PROXY,
  type DesiredContract,
  desiredContracts,
  matchesContractCreation,
} from './creation.js'
import {
  type ComparedSetting,
  compareSetting,
  DEPLOYMENT_STEP_ORDER,
  type HubOrSpokeContract,
  type OwnedContract,
  ownerCallStep,
} from './item.js'

/** Runs `read` on one node of a chain. */
type ChainReader = <T>(label: string, read: (ask: RpcCall) => Promise<T>) => Promise<T>

/**
 * Compares the desired deployment of a network with its chains, hub first. Once all steps are executed, a new comparison
 * gives no step but `acceptOwnership`, the second step of an ownership transfer.
 * @param strangeEids endpoint ids that must have no peer
 */
export async function compareNetworkDeployment(
  desired: readonly DesiredChainDeployment[],
  asking: ChainReader,
  strangeEids: readonly number[],
): Promise<ComparedSetting[]> {
  const hubEid = desired.find(({ role }) => role === 'hub')!.eid
  const chains = await Promise.all(
    desired.map((one) =>
      asking(one.label, (ask) => compareChainCode(ask, one, desiredContracts(one, hubEid))),
    ),
  )
  const ends = chains.flatMap(({ end }) => end ?? [])
  const items = chains.map(async ({ codes, deployed, end }) => {
    if (!end) return codes
    const { chain, desired: one } = end
    return asking(chain, async (ask) => [
      ...codes,
      ...(await Promise.all(deployed.map((it) => compareContractSettings(ask, one, it)))).flat(),
      ...(await compareBridgeSettings(ask, end, ends, strangeEids)),
    ])
  })
  return (await Promise.all(items)).flat()
}

/**
 * Compares a chain's endpoint, and the code of its contracts.
 * @returns these comparisons, the deployed contracts, and the hub or spoke as `end`. `end` is null where the endpoint has
 * another id, or where a contract has other code than clusterd's or can't be deployed: then the chain's settings are not
 * compared
 */
async function compareChainCode(
  ask: RpcCall,
  desired: DesiredChainDeployment,
  contracts: readonly DesiredContract[],
) {
  const { label: chain, endpoint, eid, role } = desired
  const endpointEid = await fallbackIfRefused(
    createContractReader(ask, endpoint, layerZeroEndpointAbi)('eid'),
    null,
  )
  const ofContracts = await Promise.all(
    contracts.map((one) => compareContractCode(ask, chain, one)),
  )
  const codes = [
    compareSetting({ chain, what: 'endpoint' }, 'id', {
      wanted: String(eid),
      found: String(endpointEid ?? 'no endpoint'),
      rank: DEPLOYMENT_STEP_ORDER.deploy,
      step: null,
      advice:
        endpointEid !== eid && `Correct \`endpoint\` (${endpoint}) or \`eid\` in the chains file.`,
    }),
    ...ofContracts,
  ]
  const deployed = contracts.filter((_, i) => ofContracts[i]!.found !== 'none')
  if (!codes.every(({ isRight, step }) => isRight || step)) return { codes, deployed, end: null }
  const app = contracts[0]!
  const isDeployed = deployed.includes(app)
  const owner = isDeployed
    ? ((await readContractSettingText(ask, app.address, 'owner')) as Hex)
    : desired.owner
  const end: HubOrSpokeContract = {
    desired,
    chain,
    what: role,
    at: app.address,
    owner,
    isDeployed,
  }
  return { codes, deployed, end }
}

type FoundCode = 'ours' | 'another' | 'none'

async function classifyCode(
  ask: RpcCall,
  code: Hex,
  creation: DesiredContract['creation'],
): Promise<FoundCode> {
  if (code === '0x') return 'none'
  return (await matchesContractCreation(ask, code, creation)) ? 'ours' : 'another'
}

/** Advice to the operator about a contract that can't be deployed. */
function deploymentAdvice(foundCode: FoundCode, proxy: Hex): string {
  if (foundCode === 'another')
    return 'It is another contract, or was constructed with other values: correct the chains file.'
  if (proxy === '0x')
    return `The chain does not have the deterministic deployment proxy ${DEPLOYMENT_PROXY}: send its presigned transaction first.`
  return 'Nothing stands at the address in the chains file: correct it, or take it out to deploy.'
}

/** Compares a contract's code: `ours`, `another` or `none`, with the deployment step where a deployment is possible. */
export async function compareContractCode(
  ask: RpcCall,
  chain: string,
  { what, address, creation }: Pick<DesiredContract, 'address' | 'creation'> & { what: string },
): Promise<ComparedSetting> {
  const codeAt = (at: Hex) => ask<Hex>('eth_getCode', [at, 'latest'])
  const [proxy, code] = await Promise.all([codeAt(DEPLOYMENT_PROXY), codeAt(address)])
  const foundCode = await classifyCode(ask, code, creation)
  const canDeploy = foundCode === 'none' && address === creation.address && proxy !== '0x'
  const step = { chain, by: null, to: DEPLOYMENT_PROXY, data: creation.data, value: 0n } as const
  return compareSetting({ chain, what }, `code at ${address}`, {
    wanted: 'ours',
    found: foundCode,
    rank: DEPLOYMENT_STEP_ORDER.deploy,
    advice: foundCode !== 'ours' && !canDeploy && deploymentAdvice(foundCode, proxy),
    step: canDeploy ? { ...step, does: `deploys the ${what} at ${address}` } : null,
  })
}

/**
 * ABI of the settings of clusterd's contracts. Hub, spoke and payments declare their shared functions in the same way.
 */
const SETTINGS_ABI: Abi = [...hubAbi, ...ensResolverAbi]

/** Reads a setting of one of clusterd's contracts as text, in lower case. @throws RpcError */
export const readContractSettingText = async (
  ask: RpcCall,
  at: Hex,
  functionName: string,
  args: readonly unknown[] = [],
) => String(await createContractReader(ask, at, SETTINGS_ABI)(functionName, args)).toLowerCase()

/** Compares the owner of a deployed contract. To transfer ownership, the owner offers it and the new owner accepts. */
export async function compareContractOwner(
  ask: RpcCall,
  at: Omit<OwnedContract, 'owner'>,
  wanted: Hex,
) {
  const [by, pending] = await Promise.all([
    readContractSettingText(ask, at.at, 'owner'),
    readContractSettingText(ask, at.at, 'pendingOwner'),
  ])
  const callee: OwnedContract = { ...at, owner: by as Hex }
  const call = (functionName: string, args: readonly unknown[], signer?: Hex) =>
    ownerCallStep(callee, { abi: SETTINGS_ABI, functionName, args, by: signer })
  const step =
    pending === wanted ? call('acceptOwnership', [], wanted) : call('transferOwnership', [wanted])
  const items = [compareSetting(callee, 'owner', { wanted, found: by, step })]
  if (by === wanted)
    items.push(
      compareSetting(callee, 'pending owner', {
        wanted: zeroAddress,
        found: pending,
        step: call('transferOwnership', [zeroAddress]),
      }),
    )
  return { callee, call, items }
}

async function compareContractSettings(
  ask: RpcCall,
  desired: DesiredChainDeployment,
  { what, address: at }: DesiredContract,
): Promise<ComparedSetting[]> {
  const { label: chain, endpoint, owner, pauser, relayer, minimumWei, deliverLimitWei } = desired
  const read = (functionName: string) => readContractSettingText(ask, at, functionName)
  const [ownership, paused] = await Promise.all([
    compareContractOwner(ask, { chain, what, at }, owner),
    read('paused'),
  ])
  const { callee, call, items } = ownership
  const set = (
    field: string,
    value: Hex | bigint,
    current: string,
    setter: string,
    rank?: number,
  ) =>
    compareSetting(callee, field, {
      wanted: String(value),
      found: current,
      rank,
      step: call(setter, [value]),
    })
  items.push(
    compareSetting(callee, 'pause', {
      wanted: 'false',
      found: paused,
      step: null,
      advice: paused === 'true' && 'The owner unpauses it, by hand: `unpause()`.',
    }),
    set('pauser', pauser, await read('pauser'), 'setPauser'),
  )
  if (what !== 'spoke') items.push(set('relayer', relayer, await read('relayer'), 'setRelayer'))
  if (what === 'payments') return items
  const minimum = await read('minimum')
  const ofHub =
    minimumWei > BigInt(minimum) ? DEPLOYMENT_STEP_ORDER.raiseHub : DEPLOYMENT_STEP_ORDER.lowerHub
  const delegate = await createContractReader(
    ask,
    endpoint,
    layerZeroEndpointAbi,
  )('delegates', [at])
  items.push(
    set('minimum in wei', minimumWei, minimum, 'setMinimum', what === 'hub' ? ofHub : undefined),
    set('delegate', owner, delegate.toLowerCase(), 'setDelegate'),
  )
  if (what === 'hub')
    items.push(
      set('deliver limit in wei', deliverLimitWei, await read('deliverLimit'), 'setDeliverLimit'),
    )
  return items
}
