import { encodeAbiParameters, type Hex, pad, parseAbiParameters } from 'viem'
import type { BridgeWishes } from '../../../config/deployment.js'
import { CONFIG_TYPE, hubAbi, libraryManagerAbi, NIL_DVN_COUNT } from '../contracts/index.js'
import { type Callee, callStep, compared, type Item, RANK, type Side, type Step } from './item.js'
import type { PathState, UlnState } from './state.js'

/** Two verifiers that don't belong together: less is one party that can invent messages. */
const ADVISED_DVNS = 2

/**
 * LayerZero's part of a chain: for each other end the library, its verifiers, the executor and the peer. A spoke sends,
 * the hub receives; nothing is left to LayerZero's defaults, which LayerZero can change.
 */
export function bridgeItems({ wishes, state }: Side, sides: readonly Side[]): Item[] {
  const { label: chain, role, bridge, eid: ownEid } = wishes
  const { app, paths, strangers } = state
  const callee: Callee = { chain, what: role, at: app.address, owner: app.owner }
  const items = strangers.map((eid) =>
    compared(callee, `peer ${eid}`, {
      ...{
        wanted: 'none',
        found: 'another contract',
        rank: RANK.peers,
        advice: 'No chain of the network has this id.',
      },
      step: () => peerStep(callee, eid, `0x${'00'.repeat(20)}`, `removes the peer ${eid}`),
    }),
  )
  for (const path of paths) {
    const far = sides.find((side) => side.wishes.eid === path.eid && side.wishes.eid !== ownEid)
    if (!far) continue
    const spoke = role === 'spoke' ? wishes : far.wishes
    const about = `from ${spoke.label}`
    if (bridge) {
      // how long verifiers wait is a matter of the chain that sends
      const own = { ...bridge, confirmations: spoke.bridge?.confirmations ?? bridge.confirmations }
      items.push(...libraryItems({ ...callee, endpoint: wishes.endpoint }, about, path, own))
    }
    const peer = pad(far.state.app.address)
    items.push(
      compared(callee, `peer ${path.eid}`, {
        ...{ wanted: peer, found: path.peer, rank: RANK.peers },
        step: () =>
          peerStep(callee, path.eid, far.state.app.address, `makes ${far.state.app.address} the peer ${path.eid}`),
      }),
    )
  }
  return items
}

const peerStep = (callee: Callee, eid: number, address: Hex, does: string): Step =>
  callStep(callee, `peer.${eid}`, { abi: hubAbi, functionName: 'setPeer', args: [eid, pad(address)], does })

type AtEndpoint = Callee & { endpoint: Hex }

function libraryItems(callee: AtEndpoint, about: string, path: PathState, bridge: BridgeWishes): Item[] {
  const { endpoint: to, at } = callee
  const { eid, library, uln } = path
  const sends = callee.what === 'spoke'
  const wished = sends ? bridge.sendLibrary : bridge.receiveLibrary
  const setting = (field: string, functionName: string, args: readonly unknown[], does: string): Step =>
    callStep(callee, `${field}.${eid}`, { abi: libraryManagerAbi, functionName, args: [at, ...args], does, to })
  const configured = (field: string, configType: number, config: Hex, does: string): Step =>
    setting(field, 'setConfig', [wished, [{ eid, configType, config }]], does)
  const named = sends ? 'send library' : 'receive library'
  const count = bridge.requiredDvns.length + bridge.optionalThreshold
  const items = [
    compared(callee, `${named} ${about}`, {
      ...{ wanted: wished, found: library.isDefault ? `LayerZero's default` : library.address, rank: RANK.bridge },
      step: () =>
        sends
          ? setting('sending', 'setSendLibrary', [eid, wished], `sends to ${eid} by ${wished}`)
          : setting('receiving', 'setReceiveLibrary', [eid, wished, 0n], `receives from ${eid} by ${wished}`),
    }),
    compared(callee, `verifiers ${about}`, {
      ...{ wanted: textOf(ulnOf(bridge)), found: textOf(uln), rank: RANK.bridge },
      step: () => configured('verifiers', CONFIG_TYPE.ULN, encodeUln(ulnOf(bridge)), `sets ${textOf(ulnOf(bridge))}`),
      ...(count < ADVISED_DVNS && { advice: 'One verifier can invent messages by itself: name two or more.' }),
    }),
  ]
  if (path.executor) items.push(executorItem(callee, about, path.executor, { bridge, configured }))
  return items
}

function executorItem(
  callee: Callee,
  about: string,
  executor: NonNullable<PathState['executor']>,
  how: { bridge: BridgeWishes; configured(field: string, type: number, config: Hex, does: string): Step },
): Item {
  const { maxMessageSize, executor: wished } = how.bridge
  const text = (address: string, size: number) => (size === 0 ? `LayerZero's default` : `${address}, ${size} bytes`)
  const config = encodeAbiParameters(parseAbiParameters('(uint32 maxMessageSize, address executor)'), [
    { maxMessageSize, executor: wished },
  ])
  return compared(callee, `executor ${about}`, {
    ...{ wanted: text(wished, maxMessageSize), found: text(executor.address, executor.maxMessageSize) },
    rank: RANK.bridge,
    step: () => how.configured('executor', CONFIG_TYPE.EXECUTOR, config, `makes ${wished} the executor`),
  })
}

/** The library's form of wishes: 255 is none, where 0 would be LayerZero's default. */
const ulnOf = ({ confirmations, requiredDvns, optionalDvns, optionalThreshold }: BridgeWishes): UlnState => ({
  ...{ confirmations: BigInt(confirmations), requiredDvns, optionalDvns, optionalThreshold },
  requiredCount: requiredDvns.length || NIL_DVN_COUNT,
  optionalCount: optionalDvns.length || NIL_DVN_COUNT,
})

const ULN = parseAbiParameters(
  '(uint64 confirmations, uint8 requiredDVNCount, uint8 optionalDVNCount, uint8 optionalDVNThreshold, address[] requiredDVNs, address[] optionalDVNs)',
)

const encodeUln = ({ confirmations, requiredDvns, optionalDvns, ...counts }: UlnState): Hex =>
  encodeAbiParameters(ULN, [
    {
      ...{ confirmations, requiredDVNCount: counts.requiredCount, optionalDVNCount: counts.optionalCount },
      ...{ optionalDVNThreshold: counts.optionalThreshold, requiredDVNs: requiredDvns, optionalDVNs: optionalDvns },
    },
  ])

/** `15 confirmations, all of 0x…, 0x…, 1 of 0x…, 0x…` */
function textOf({ confirmations, requiredCount, requiredDvns, optionalCount, ...uln }: UlnState): string {
  if (confirmations === 0n && requiredCount === 0 && optionalCount === 0) return `LayerZero's default`
  const list = (count: number, addresses: readonly Hex[]) =>
    count === NIL_DVN_COUNT ? 'nobody' : count === 0 ? `LayerZero's default` : addresses.join(', ')
  const optional =
    optionalCount === NIL_DVN_COUNT ? '' : `, ${uln.optionalThreshold} of ${list(optionalCount, uln.optionalDvns)}`
  return `${confirmations || `LayerZero's default`} confirmations, all of ${list(requiredCount, requiredDvns)}${optional}`
}
