import type { Hex } from 'viem'
import type { ChainWishes } from '../../../config/deployment.js'
import { hubAbi } from '../contracts/index.js'
import { bridgeItems } from './bridge.js'
import { appCreation, type Creation, DEPLOYMENT_PROXY, paymentsCreation } from './creation.js'
import { type Callee, callStep, compared, type Item, RANK, type Side, type Step } from './item.js'
import { type ChainState, type RolesState, ZERO_ADDRESS } from './state.js'

/**
 * Compares what is wished of a network with what its chains show, hub first. Pure: the same states give the same items,
 * and a state in which every step was carried out gives none with a step.
 */
export function itemsOf(sides: readonly Side[]): Item[] {
  const hub = sides.find(({ wishes }) => wishes.role === 'hub')!
  const deployments = sides.map((side) => deploymentItems(side, hub.wishes.eid))
  // what is said of a contract that is not ours, or can't be deployed, would mean nothing
  const isSound = (i: number) => deployments[i]!.every(({ isRight, step }) => isRight || step)
  const sound = sides.filter((_, i) => isSound(i))
  return sides.flatMap((side, i) => [
    ...deployments[i]!,
    ...(isSound(i) ? [...appItems(side), ...paymentsItems(side), ...bridgeItems(side, sound)] : []),
  ])
}

/** Payments, the largest, take 2.9 million. */
const DEPLOYMENT_GAS = 3_000_000n

function deploymentItems({ wishes, state }: Side, hubEid: number): Item[] {
  const { label: chain, role, eid, endpoint } = wishes
  const items: Item[] = [
    compared({ chain, what: 'endpoint' }, 'id', {
      ...{ wanted: String(eid), found: String(state.endpointEid ?? 'no endpoint'), step: () => null },
      advice: `Correct \`endpoint\` (${endpoint}) or \`eid\` in the chains file.`,
    }),
  ]
  items.push(codeItem({ chain, what: role }, state, state.app, appCreation(wishes, hubEid)))
  if (state.payments) items.push(codeItem({ chain, what: 'payments' }, state, state.payments, paymentsCreation(wishes)))
  return items
}

function codeItem(
  { chain, what }: { chain: string; what: string },
  state: ChainState,
  { address, code }: Pick<RolesState, 'address' | 'code'>,
  { address: ownAddress, data }: Creation,
): Item {
  const canDeploy = code === 'none' && address === ownAddress && state.hasProxy && state.endpointEid !== null
  const advice =
    code === 'another'
      ? 'It is another contract, or was constructed with other values: correct the chains file.'
      : !state.hasProxy
        ? `The chain lacks the deterministic deployment proxy ${DEPLOYMENT_PROXY}: send its presigned transaction first.`
        : 'Nothing stands at the address in the chains file: correct it, or take it out to deploy.'
  const step = (): Step | null =>
    canDeploy
      ? {
          ...{ id: `${chain}.${what}.deploy`, chain, by: null, to: DEPLOYMENT_PROXY, data, value: 0n },
          ...{ does: `deploys the ${what} at ${address}`, usualGas: DEPLOYMENT_GAS },
        }
      : null
  const found = { ours: 'ours', another: 'another', none: 'none' }[code]
  const values = { wanted: 'ours', found, rank: RANK.deploy, step, ...(!canDeploy && code !== 'ours' && { advice }) }
  return compared({ chain, what }, `code at ${address}`, values)
}

function appItems({ wishes, state: { app } }: Side): Item[] {
  const { label: chain, role, minimumWei, deliverLimitWei, owner } = wishes
  const callee: Callee = { chain, what: role, at: app.address, owner: app.owner }
  const isHub = role === 'hub'
  const minimumRank = !isHub ? RANK.settings : minimumWei > app.minimumWei ? RANK.raiseHub : RANK.lowerHub
  const items = [
    ...rolesItems(callee, wishes, app),
    compared(callee, 'minimum', {
      ...{ wanted: `${minimumWei} wei`, found: `${app.minimumWei} wei`, rank: minimumRank },
      step: () => setting(callee, 'minimum', ['setMinimum', minimumWei], `sets the minimum to ${minimumWei} wei`),
      ...(minimumRank === RANK.raiseHub &&
        app.code !== 'none' && { advice: 'Raise it when what the spokes have sent before has arrived.' }),
    }),
    compared(callee, 'delegate', {
      ...{ wanted: owner, found: app.delegate },
      step: () => setting(callee, 'delegate', ['setDelegate', owner], `makes ${owner} the delegate at the endpoint`),
    }),
  ]
  if (isHub)
    items.push(
      compared(callee, 'deliver limit', {
        ...{ wanted: `${deliverLimitWei} wei`, found: `${app.deliverLimitWei} wei` },
        step: () =>
          setting(
            callee,
            'limit',
            ['setDeliverLimit', deliverLimitWei],
            `limits deliveries to ${deliverLimitWei} wei a day`,
          ),
      }),
    )
  return items
}

const paymentsItems = ({ wishes, state: { payments } }: Side): Item[] =>
  payments
    ? rolesItems(
        { chain: wishes.label, what: 'payments', at: payments.address, owner: payments.owner },
        wishes,
        payments,
      )
    : []

/** Owner, pauser, relayer and pause of a contract. Every contract of ours has these calls under the same names. */
function rolesItems(callee: Callee, { owner, pauser, relayer }: ChainWishes, found: RolesState): Item[] {
  const isOffered = found.pendingOwner === owner
  const items = [
    compared(callee, 'owner', {
      ...{ wanted: owner, found: found.owner },
      step: () =>
        isOffered
          ? callStep(callee, 'accept', { ...ACCEPT, does: 'accepts the ownership', by: owner })
          : setting(callee, 'owner', ['transferOwnership', owner], `offers the ownership to ${owner}`),
    }),
    compared(callee, 'pauser', {
      ...{ wanted: pauser, found: found.pauser },
      step: () => setting(callee, 'pauser', ['setPauser', pauser], `makes ${pauser} the pauser`),
    }),
    compared(callee, 'pause', {
      ...{ wanted: 'none', found: found.isPaused ? 'paused' : 'none', step: () => null },
      ...(found.isPaused && { advice: 'The owner unpauses it, by hand: `unpause()`.' }),
    }),
  ]
  if (found.owner === owner)
    items.push(
      compared(callee, 'pending owner', {
        ...{ wanted: 'none', found: found.pendingOwner === ZERO_ADDRESS ? 'none' : found.pendingOwner },
        step: () =>
          setting(callee, 'pending', ['transferOwnership', ZERO_ADDRESS], 'takes the offer of the ownership back'),
      }),
    )
  if (found.relayer !== null)
    items.push(
      compared(callee, 'relayer', {
        ...{ wanted: relayer, found: found.relayer },
        step: () => setting(callee, 'relayer', ['setRelayer', relayer], `makes ${relayer} the relayer`),
      }),
    )
  return items
}

const ACCEPT = { abi: hubAbi, functionName: 'acceptOwnership', args: [] } as const

/** A setting of one value; hub, spoke and payments declare what they have in common alike. */
function setting(
  callee: Callee,
  field: string,
  [functionName, value]: readonly [string, Hex | bigint],
  does: string,
): Step {
  return callStep(callee, field, { abi: hubAbi, functionName, args: [value], does })
}
