import { type Abi, type Hex, zeroAddress } from 'viem'
import type { ChainWishes } from '../../../config/desired.js'
import { orIfRefused } from '../../rpc/errors.js'
import type { Call } from '../../rpc/nodes.js'
import { endpointAbi, hubAbi } from '../contracts/index.js'
import { readContract } from '../contracts/read.js'
import { bridgeItems } from './bridge.js'
import { type Contract, contractsOf, DEPLOYMENT_PROXY, isOurs } from './creation.js'
import { type Callee, callStep, compared, type End, type Item, RANK } from './item.js'

/** Asks a chain at one of its nodes. */
export type Asking = <T>(label: string, read: (ask: Call) => Promise<T>) => Promise<T>

/**
 * Compares the wishes for a network with its chains, hub first. Once every step was carried out, no item has one.
 * @param strangeEids endpoint ids that must have no peer
 */
export async function compareNetwork(
  wishes: readonly ChainWishes[],
  asking: Asking,
  strangeEids: readonly number[],
): Promise<Item[]> {
  const hubEid = wishes.find(({ role }) => role === 'hub')!.eid
  const chains = await Promise.all(
    wishes.map(async (one) => {
      const contracts = contractsOf(one, hubEid)
      const found = await asking(one.label, (ask) => codeItems(ask, one, contracts))
      // a comparison of settings means nothing where a contract is not ours, or can't be deployed
      return { wishes: one, contracts, ...found, isSound: found.items.every(({ isRight, step }) => isRight || step) }
    }),
  )
  const sound = chains.filter(({ isSound }) => isSound)
  const ends = await Promise.all(
    sound.map(async ({ wishes: one, contracts: [app], areDeployed: [isDeployed = false] }): Promise<End> => {
      const { label, role } = one
      const { address: at } = app!
      const owner = isDeployed ? await asking(label, (ask) => readText(ask, at, 'owner')) : one.owner
      return { wishes: one, chain: label, what: role, at, owner: owner as Hex, isDeployed }
    }),
  )
  const items = chains.map(async ({ wishes: one, contracts, items, areDeployed }) => {
    const end = ends.find(({ chain }) => chain === one.label)
    if (!end) return items
    return asking(one.label, async (ask) => [
      ...items,
      ...(await Promise.all(contracts.map((it, i) => (areDeployed[i] ? settingItems(ask, one, it) : [])))).flat(),
      ...(await bridgeItems(ask, end, ends, strangeEids)),
    ])
  })
  return (await Promise.all(items)).flat()
}

/** Endpoint and code of a chain's contracts. */
async function codeItems(ask: Call, { label: chain, endpoint, eid }: ChainWishes, contracts: readonly Contract[]) {
  const [proxy, found, ...codes] = await Promise.all([
    ask<Hex>('eth_getCode', [DEPLOYMENT_PROXY, 'latest']),
    orIfRefused(readContract(ask, endpoint, { abi: endpointAbi, functionName: 'eid' }), null),
    ...contracts.map(({ address }) => ask<Hex>('eth_getCode', [address, 'latest'])),
  ])
  const items = [
    compared({ chain, what: 'endpoint' }, 'id', {
      wanted: String(eid),
      found: String(found ?? 'no endpoint'),
      rank: RANK.deploy,
      step: null,
      advice: found !== eid && `Correct \`endpoint\` (${endpoint}) or \`eid\` in the chains file.`,
    }),
  ]
  for (const [i, contract] of contracts.entries()) {
    const { what, address, creation } = contract
    const code = codes[i] === '0x' ? 'none' : (await isOurs(ask, codes[i]!, creation)) ? 'ours' : 'another'
    const canDeploy = code === 'none' && address === creation.address && proxy !== '0x' && found !== null
    const advice =
      code === 'another'
        ? 'It is another contract, or was constructed with other values: correct the chains file.'
        : proxy === '0x'
          ? `The chain lacks the deterministic deployment proxy ${DEPLOYMENT_PROXY}: send its presigned transaction first.`
          : 'Nothing stands at the address in the chains file: correct it, or take it out to deploy.'
    const step = { chain, by: null, to: DEPLOYMENT_PROXY, data: creation.data, value: 0n } as const
    items.push(
      compared({ chain, what }, `code at ${address}`, {
        wanted: 'ours',
        found: code,
        rank: RANK.deploy,
        advice: code !== 'ours' && !canDeploy && advice,
        step: canDeploy ? { ...step, does: `deploys the ${what} at ${address}` } : null,
      }),
    )
  }
  return { items, areDeployed: codes.map((code) => code !== '0x') }
}

const readText = async (ask: Call, at: Hex, functionName: string): Promise<string> =>
  String(await readContract(ask, at, { abi: hubAbi as Abi, functionName })).toLowerCase()

/** Roles and limits of a contract that stands; hub, spoke and payments declare the calls that they share alike. */
async function settingItems(ask: Call, wishes: ChainWishes, { what, address: at }: Contract): Promise<Item[]> {
  const { label: chain, endpoint, owner, pauser, relayer, minimumWei, deliverLimitWei } = wishes
  const read = (functionName: string) => readText(ask, at, functionName)
  const [by, pending, paused] = await Promise.all([read('owner'), read('pendingOwner'), read('paused')])
  const callee: Callee = { chain, what, at, owner: by as Hex }
  const call = (functionName: string, args: readonly unknown[], signer?: Hex) =>
    callStep(callee, { abi: hubAbi as Abi, functionName, args, by: signer })
  const offering = (to: Hex) => call('transferOwnership', [to])
  const settings = { rank: RANK.settings }
  const set = (field: string, value: Hex | bigint, found: string, setter: string, rank: number = RANK.settings) =>
    compared(callee, field, { wanted: String(value), found, rank, step: call(setter, [value]) })
  const step = pending === owner ? call('acceptOwnership', [], owner) : offering(owner)
  const items = [
    compared(callee, 'owner', { ...settings, wanted: owner, found: by, step }),
    compared(callee, 'pause', {
      ...{ ...settings, wanted: 'false', found: paused, step: null },
      advice: paused === 'true' && 'The owner unpauses it, by hand: `unpause()`.',
    }),
  ]
  if (by === owner) {
    const none = { ...settings, wanted: zeroAddress, found: pending, step: offering(zeroAddress) }
    items.push(compared(callee, 'pending owner', none))
  }
  items.push(set('pauser', pauser, await read('pauser'), 'setPauser'))
  if (what !== 'spoke') items.push(set('relayer', relayer, await read('relayer'), 'setRelayer'))
  if (what === 'payments') return items
  const minimum = await read('minimum')
  const ofHub = minimumWei > BigInt(minimum) ? RANK.raiseHub : RANK.lowerHub
  const delegate = await readContract(ask, endpoint, { abi: endpointAbi, functionName: 'delegates', args: [at] })
  items.push(
    set('minimum in wei', minimumWei, minimum, 'setMinimum', what === 'hub' ? ofHub : RANK.settings),
    set('delegate', owner, delegate.toLowerCase(), 'setDelegate'),
  )
  if (what === 'hub')
    items.push(set('deliver limit in wei', deliverLimitWei, await read('deliverLimit'), 'setDeliverLimit'))
  return items
}
