import {
  type Abi,
  type ContractFunctionReturnType,
  encodeAbiParameters,
  getAbiItem,
  type Hex,
  pad,
  parseAbiParameters,
  zeroAddress,
} from 'viem'

import type { DesiredBridgeSettings } from '../../../config/desired.js'
import { fallbackIfRefused } from '../../rpc/errors.js'
import type { RpcCall } from '../../rpc/nodes.js'
import {
  hubAbi,
  layerZeroLibraryManagerAbi,
  layerZeroUlnAbi,
  MESSAGE_LIBRARY_CONFIG_TYPE,
  NIL_DVN_COUNT,
} from '../contracts/index.js'
import { createContractReader } from '../contracts/read.js'
import {
  type ComparedSetting,
  compareSetting,
  DEPLOYMENT_STEP_ORDER,
  type HubOrSpokeContract,
  ownerCallStep,
} from './item.js'

/** Minimum advised number of independent verifiers (DVNs): a single verifier can invent messages. */
const MIN_ADVISED_DVNS = 2
const LAYER_ZERO_DEFAULT = `LayerZero's default`
/** Maximum message length for the executor, bytes, as in LayerZero's default. */
const MAX_MESSAGE_BYTES = 10_000
const NO_PEER = pad(zeroAddress)

/**
 * Compares the LayerZero settings of a chain with the desired settings: for each remote chain its library, verifiers,
 * executor and peer. A spoke sends and the hub receives. Every setting is explicit, because LayerZero can change its
 * defaults.
 * @param strangeEids endpoint ids that must have no peer
 */
export async function compareBridgeSettings(
  ask: RpcCall,
  end: HubOrSpokeContract,
  ends: readonly HubOrSpokeContract[],
  strangeEids: readonly number[],
): Promise<ComparedSetting[]> {
  const { at, desired, isDeployed } = end
  const peerItem = async (eid: number, wanted: Hex): Promise<ComparedSetting> => {
    const peer = isDeployed ? await createContractReader(ask, at, hubAbi)('peers', [eid]) : NO_PEER
    return compareSetting(end, `peer ${eid}`, {
      wanted,
      found: peer,
      rank: DEPLOYMENT_STEP_ORDER.peers,
      advice: wanted === NO_PEER && 'No chain of the network has this id.',
      step: ownerCallStep(end, { abi: hubAbi, functionName: 'setPeer', args: [eid, wanted] }),
    })
  }
  const far = ends.filter((one) => one.desired.role !== desired.role)
  const strangers = await Promise.all(strangeEids.map((eid) => peerItem(eid, NO_PEER)))
  const items = await Promise.all(
    far.map(async (one) => [
      ...(await compareBridgePath(ask, end, one)),
      await peerItem(one.desired.eid, pad(one.at)),
    ]),
  )
  return [...strangers.filter(({ isRight }) => !isRight), ...items.flat()]
}

async function compareBridgePath(
  ask: RpcCall,
  end: HubOrSpokeContract,
  far: HubOrSpokeContract,
): Promise<ComparedSetting[]> {
  const { at, desired } = end
  const { bridge, endpoint: to } = desired
  if (!bridge) return []
  const { eid } = far.desired
  const sends = desired.role === 'spoke'
  const [library, about] = sends
    ? [bridge.sendLibrary, `from ${desired.label}`]
    : [bridge.receiveLibrary, `from ${far.desired.label}`]
  const call = (functionName: string, args: readonly unknown[], does: string) =>
    ownerCallStep(end, {
      abi: layerZeroLibraryManagerAbi as Abi,
      functionName,
      args: [at, ...args],
      does,
      to,
    })
  const configure = (configType: number, config: Hex, does: string) =>
    call('setConfig', [library, [{ eid, configType, config }]], does)
  // the sending chain decides how many confirmations verifiers wait for
  const confirmations = (sends ? bridge : far.desired.bridge)?.confirmations ?? bridge.confirmations
  const uln = verifierSettingsOf({ ...bridge, confirmations })
  const verifiers = verifiersText(uln)
  const ofLibrary = createContractReader(ask, library, layerZeroUlnAbi)
  const ulnConfig = await fallbackIfRefused(ofLibrary('getAppUlnConfig', [at, eid]), null)
  const items = [
    compareSetting(end, `${sends ? 'send' : 'receive'} library ${about}`, {
      wanted: library,
      found: await readLibrary(ask, end, eid),
      rank: DEPLOYMENT_STEP_ORDER.bridge,
      step: sends
        ? call('setSendLibrary', [eid, library], `sends to ${eid} by ${library}`)
        : call('setReceiveLibrary', [eid, library, 0n], `receives from ${eid} by ${library}`),
    }),
    compareSetting(end, `verifiers ${about}`, {
      wanted: verifiers,
      found: ulnConfig ? verifiersText(ulnConfig) : LAYER_ZERO_DEFAULT,
      rank: DEPLOYMENT_STEP_ORDER.bridge,
      step: configure(
        MESSAGE_LIBRARY_CONFIG_TYPE.ULN,
        encodeAbiParameters(ULN_PARAMETERS, [uln]),
        `sets ${verifiers}`,
      ),
      advice:
        bridge.requiredDvns.length + bridge.optionalThreshold < MIN_ADVISED_DVNS &&
        'A single verifier can invent messages: name two or more.',
    }),
  ]
  if (!sends) return items
  const { executor } = bridge
  const [size, address] = await fallbackIfRefused(ofLibrary('executorConfigs', [at, eid]), [
    0,
    zeroAddress,
  ] as const)
  const config = encodeAbiParameters(EXECUTOR_PARAMETERS, [
    { maxMessageSize: MAX_MESSAGE_BYTES, executor },
  ])
  items.push(
    compareSetting(end, `executor ${about}`, {
      wanted: `${executor}, ${MAX_MESSAGE_BYTES} bytes`,
      rank: DEPLOYMENT_STEP_ORDER.bridge,
      found: size === 0 ? LAYER_ZERO_DEFAULT : `${address.toLowerCase()}, ${size} bytes`,
      step: configure(
        MESSAGE_LIBRARY_CONFIG_TYPE.EXECUTOR,
        config,
        `makes ${executor} the executor`,
      ),
    }),
  )
  return items
}

/**
 * Reads the address of the message library for a remote chain, or `LAYER_ZERO_DEFAULT` where the default applies. The
 * endpoint reverts where not even a default is set.
 */
async function readLibrary(
  ask: RpcCall,
  { at, desired: { endpoint, role } }: HubOrSpokeContract,
  eid: number,
): Promise<string> {
  const ofEndpoint = createContractReader(ask, endpoint, layerZeroLibraryManagerAbi)
  const read = async (): Promise<readonly [string, boolean]> =>
    role === 'hub'
      ? ofEndpoint('getReceiveLibrary', [at, eid])
      : Promise.all([
          ofEndpoint('getSendLibrary', [at, eid]),
          ofEndpoint('isDefaultSendLibrary', [at, eid]),
        ])
  const [address, isDefault] = await fallbackIfRefused(read(), ['', true] as const)
  return isDefault ? LAYER_ZERO_DEFAULT : address.toLowerCase()
}

const EXECUTOR_PARAMETERS = parseAbiParameters('(uint32 maxMessageSize, address executor)')
const ULN_PARAMETERS = getAbiItem({ abi: layerZeroUlnAbi, name: 'getAppUlnConfig' }).outputs

type VerifierSettings = ContractFunctionReturnType<
  typeof layerZeroUlnAbi,
  'view',
  'getAppUlnConfig'
>

/** The verifier settings in the library's form. A count of 255 means no verifiers: 0 means LayerZero's default. */
const verifierSettingsOf = ({
  confirmations,
  requiredDvns,
  optionalDvns,
  optionalThreshold,
}: DesiredBridgeSettings): VerifierSettings => ({
  confirmations: BigInt(confirmations),
  requiredDVNs: requiredDvns,
  optionalDVNs: optionalDvns,
  requiredDVNCount: requiredDvns.length || NIL_DVN_COUNT,
  optionalDVNCount: optionalDvns.length || NIL_DVN_COUNT,
  optionalDVNThreshold: optionalThreshold,
})

/** Verifier settings as text, such as `15 confirmations, all of 0x…, 0x…, 1 of 0x…, 0x…`. */
function verifiersText({
  confirmations,
  requiredDVNCount,
  requiredDVNs,
  optionalDVNCount,
  ...uln
}: VerifierSettings): string {
  const list = (count: number, addresses: readonly Hex[]) => {
    if (count === 0) return LAYER_ZERO_DEFAULT
    return count === NIL_DVN_COUNT ? 'nobody' : addresses.join(', ').toLowerCase()
  }
  const required = `${confirmations || LAYER_ZERO_DEFAULT} confirmations, all of ${list(requiredDVNCount, requiredDVNs)}`
  return `${required}, ${uln.optionalDVNThreshold} of ${list(optionalDVNCount, uln.optionalDVNs)}`
}
