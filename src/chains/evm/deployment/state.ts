import { type Hex, parseAbi } from 'viem'
import type { ChainWishes } from '../../../config/deployment.js'
import { orIfRefused } from '../../rpc/errors.js'
import type { Call } from '../../rpc/nodes.js'
import { communityPaymentsAbi, endpointAbi, hubAbi, libraryManagerAbi, spokeAbi, ulnAbi } from '../contracts/index.js'
import { readContract } from '../contracts/read.js'
import { appCreation, type Creation, DEPLOYMENT_PROXY, paymentsCreation } from './creation.js'

/** Whether a contract stands at an address: ours means the bytes that our creation code gives, immutables included. */
type CodeFound = 'ours' | 'another' | 'none'

/** A contract with its roles. */
export interface RolesState {
  address: Hex
  code: CodeFound
  owner: Hex
  /** Who may accept the ownership; zero for nobody. */
  pendingOwner: Hex
  pauser: Hex
  /** Of hub and payments. */
  relayer: Hex | null
  isPaused: boolean
}

/** A hub or a spoke. */
interface AppState extends RolesState {
  minimumWei: bigint
  /** Of a hub. */
  deliverLimitWei: bigint | null
  /** Who may configure it at the endpoint, beside itself. */
  delegate: Hex
}

/** LayerZero's configuration for verifiers, as the application itself has set it; all 0 where nothing is set. */
export interface UlnState {
  confirmations: bigint
  requiredCount: number
  requiredDvns: readonly Hex[]
  optionalCount: number
  optionalThreshold: number
  optionalDvns: readonly Hex[]
}

/** What a hub or spoke has set for messages from or to another chain. */
export interface PathState {
  eid: number
  peer: Hex
  /** The library in use: a spoke's for sending, a hub's for receiving; `isDefault` where LayerZero may change it. */
  library: { address: Hex; isDefault: boolean }
  uln: UlnState
  /** Of a spoke. */
  executor: { address: Hex; maxMessageSize: number } | null
}

/** What a chain shows of the contracts that are wished for. */
export interface ChainState {
  hasProxy: boolean
  endpointEid: number | null
  app: AppState
  payments: RolesState | null
  /** By the other end's endpoint id. */
  paths: PathState[]
  /** Endpoint ids of chains that are no part of the network, for which a peer is set all the same. */
  strangers: number[]
}

export const ZERO_ADDRESS: Hex = `0x${'00'.repeat(20)}`
const ZERO_WORD: Hex = `0x${'00'.repeat(32)}`

const OWNED = parseAbi([
  'function owner() view returns (address)',
  'function pendingOwner() view returns (address)',
  'function pauser() view returns (address)',
  'function paused() view returns (bool)',
])

export interface Question {
  wishes: ChainWishes
  hubEid: number
  /** Endpoint ids of the other ends. */
  farEids: readonly number[]
  /** Endpoint ids that must have no peer. */
  strangeEids: readonly number[]
}

/**
 * Reads what a chain shows of the contracts that are wished for, at one node's newest block. What is not deployed yet
 * is given as its constructor will leave it.
 */
export async function readChainState(ask: Call, question: Question): Promise<ChainState> {
  const { wishes, hubEid, farEids, strangeEids } = question
  const app = appCreation(wishes, hubEid)
  const at = wishes.contract ?? app.address
  const [proxy, endpointEid, code, payments] = await Promise.all([
    ask<Hex>('eth_getCode', [DEPLOYMENT_PROXY, 'latest']),
    orIfRefused(readContract(ask, wishes.endpoint, { abi: endpointAbi, functionName: 'eid' }), null),
    readCode(ask, at, app),
    readPayments(ask, wishes),
  ])
  const isThere = code === 'ours' && endpointEid !== null
  const peerOf = (eid: number) =>
    isThere ? readContract(ask, at, { abi: hubAbi, functionName: 'peers', args: [eid] }) : Promise.resolve(ZERO_WORD)
  const [appState, paths, strangers] = await Promise.all([
    isThere ? readApp(ask, wishes, at) : freshApp(wishes),
    endpointEid === null ? [] : Promise.all(farEids.map(async (eid) => readPath(ask, wishes, { at, eid, peerOf }))),
    Promise.all(strangeEids.map(async (eid) => ((await peerOf(eid)) === ZERO_WORD ? [] : [eid]))),
  ])
  return {
    hasProxy: proxy !== '0x',
    endpointEid,
    app: { ...appState, address: at, code },
    payments,
    paths,
    strangers: strangers.flat(),
  }
}

/** Compares the code at an address with what our creation code gives on this chain, where it runs in an `eth_call`. */
export async function readCode(ask: Call, address: Hex, { code }: Creation): Promise<CodeFound> {
  const found = await ask<Hex>('eth_getCode', [address, 'latest'])
  if (found === '0x') return 'none'
  const ours = await orIfRefused(ask<Hex>('eth_call', [{ data: code }, 'latest']), null)
  return ours === found ? 'ours' : 'another'
}

const freshApp = ({ role, owner, pauser, relayer, minimumWei, deliverLimitWei }: ChainWishes) => ({
  ...{ owner, pendingOwner: ZERO_ADDRESS, pauser, isPaused: false, minimumWei, delegate: owner },
  ...{ relayer: role === 'hub' ? relayer : null, deliverLimitWei: role === 'hub' ? deliverLimitWei : null },
})

async function readApp(
  ask: Call,
  { role, endpoint }: ChainWishes,
  at: Hex,
): Promise<Omit<AppState, 'address' | 'code'>> {
  const ofHub = <T>(read: () => Promise<T>): Promise<T | null> => (role === 'hub' ? read() : Promise.resolve(null))
  const [roles, minimumWei, relayer, deliverLimitWei, delegate] = await Promise.all([
    readRoles(ask, at),
    readContract(ask, at, { abi: spokeAbi, functionName: 'minimum' }),
    ofHub(() => readContract(ask, at, { abi: hubAbi, functionName: 'relayer' })),
    ofHub(() => readContract(ask, at, { abi: hubAbi, functionName: 'deliverLimit' })),
    readContract(ask, endpoint, { abi: endpointAbi, functionName: 'delegates', args: [at] }),
  ])
  return { ...roles, minimumWei, relayer: relayer && lower(relayer), deliverLimitWei, delegate: lower(delegate) }
}

async function readRoles(ask: Call, at: Hex) {
  const read = <N extends 'owner' | 'pendingOwner' | 'pauser'>(functionName: N) =>
    readContract(ask, at, { abi: OWNED, functionName }) as Promise<Hex>
  const [owner, pendingOwner, pauser, isPaused] = await Promise.all([
    ...[read('owner'), read('pendingOwner'), read('pauser')],
    readContract(ask, at, { abi: OWNED, functionName: 'paused' }),
  ] as const)
  return { owner: lower(owner), pendingOwner: lower(pendingOwner), pauser: lower(pauser), isPaused }
}

async function readPayments(ask: Call, wishes: ChainWishes): Promise<RolesState | null> {
  if (!wishes.hasPayments && !wishes.communityPayments) return null
  const made = paymentsCreation(wishes)
  const address = wishes.communityPayments ?? made.address
  const code = await readCode(ask, address, made)
  const { owner, pauser, relayer } = wishes
  if (code !== 'ours') return { address, code, owner, pendingOwner: ZERO_ADDRESS, pauser, relayer, isPaused: false }
  const [roles, found] = await Promise.all([
    readRoles(ask, address),
    readContract(ask, address, { abi: communityPaymentsAbi, functionName: 'relayer' }),
  ])
  return { address, code, ...roles, relayer: lower(found) }
}

interface PathQuestion {
  at: Hex
  eid: number
  peerOf(eid: number): Promise<Hex>
}

async function readPath(ask: Call, wishes: ChainWishes, { at, eid, peerOf }: PathQuestion): Promise<PathState> {
  const { role, bridge } = wishes
  const [peer, library, uln, executor] = await Promise.all([
    peerOf(eid),
    readLibrary(ask, wishes, at, eid),
    bridge ? readUln(ask, role === 'hub' ? bridge.receiveLibrary : bridge.sendLibrary, at, eid) : NO_ULN,
    bridge && role === 'spoke' ? readExecutor(ask, bridge.sendLibrary, at, eid) : null,
  ])
  return { eid, peer, library, uln, executor }
}

const NO_ULN: UlnState = {
  ...{ confirmations: 0n, requiredCount: 0, requiredDvns: [] },
  ...{ optionalCount: 0, optionalThreshold: 0, optionalDvns: [] },
}

/** The endpoint reverts where LayerZero has no default library for the path and the application none of its own. */
async function readLibrary(ask: Call, { role, endpoint }: ChainWishes, at: Hex, eid: number) {
  const args = [at, eid] as const
  const none = [ZERO_ADDRESS, true] as const
  const found =
    role === 'hub'
      ? orIfRefused(
          readContract(ask, endpoint, { abi: libraryManagerAbi, functionName: 'getReceiveLibrary', args }),
          none,
        )
      : Promise.all([
          orIfRefused(
            readContract(ask, endpoint, { abi: libraryManagerAbi, functionName: 'getSendLibrary', args }),
            none[0],
          ),
          readContract(ask, endpoint, { abi: libraryManagerAbi, functionName: 'isDefaultSendLibrary', args }),
        ])
  const [address, isDefault] = await found
  return { address: lower(address), isDefault }
}

async function readUln(ask: Call, library: Hex, at: Hex, eid: number): Promise<UlnState> {
  const question = { abi: ulnAbi, functionName: 'getAppUlnConfig', args: [at, eid] } as const
  const found = await orIfRefused(readContract(ask, library, question), null)
  if (!found) return NO_ULN
  return {
    ...{ confirmations: found.confirmations, requiredCount: found.requiredDVNCount },
    ...{ optionalCount: found.optionalDVNCount, optionalThreshold: found.optionalDVNThreshold },
    ...{ requiredDvns: found.requiredDVNs.map(lower), optionalDvns: found.optionalDVNs.map(lower) },
  }
}

async function readExecutor(ask: Call, library: Hex, at: Hex, eid: number) {
  const question = { abi: ulnAbi, functionName: 'executorConfigs', args: [at, eid] } as const
  const [maxMessageSize, address] = await orIfRefused(readContract(ask, library, question), [0, ZERO_ADDRESS] as const)
  return { address: lower(address), maxMessageSize }
}

const lower = (address: string): Hex => address.toLowerCase() as Hex
