import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  sliceHex,
} from 'viem'
import { layerZeroEndpointAbi } from '../../src/chains/evm/contracts/index.js'
import { endpointCreationTransaction } from '../../src/testing/contracts/deploy.js'
import type { Packet } from '../contracts/support/bridge.js'
import { type Chain, startChain } from '../contracts/support/chain.js'

/**
 * A chain as an operator finds it: with LayerZero's own contracts and nothing of ours. Endpoint and message libraries
 * are LayerZero's, as npm has them (licence LZBL-1.2: deployed from there, never copied); executor and verifiers are
 * accounts whose code charges a fee for whatever they are asked.
 */
export interface PublicChain extends Chain {
  chainId: number
  rpcUrl: string
  eid: number
  endpoint: Address
  sendLibrary: Address
  receiveLibrary: Address
  executor: Address
  dvns: readonly [Address, Address]
}

const EXECUTOR = '0x00000000000000000000000000000000e8ec0001'
const DVNS = [
  '0x00000000000000000000000000000000d0d0000a',
  '0x00000000000000000000000000000000d0d0000b',
] as const
/** Returns 10^14 wei whatever it is called with: `mstore(0, fee) return(0, 32)`. */
const CHARGES = '0x655af3107a400060005260206000f3'
/** The same for 0.0101 ether: the value of a bid, which an executor lays out, and its fee. */
const CHARGES_BID = '0x6623e1e5803b400060005260206000f3'
const TREASURY_GAS = 100_000n

const LIBRARY = parseAbi([
  'struct UlnConfig { uint64 confirmations; uint8 requiredDVNCount; uint8 optionalDVNCount; uint8 optionalDVNThreshold; address[] requiredDVNs; address[] optionalDVNs; }',
  'struct UlnParam { uint32 eid; UlnConfig config; }',
  'struct ExecutorConfig { uint32 maxMessageSize; address executor; }',
  'struct ExecutorParam { uint32 eid; ExecutorConfig config; }',
  'function setDefaultUlnConfigs(UlnParam[] params)',
  'function setDefaultExecutorConfigs(ExecutorParam[] params)',
  'function verify(bytes packetHeader, bytes32 payloadHash, uint64 confirmations)',
  'function commitVerification(bytes packetHeader, bytes32 payloadHash)',
])

const DEAD = '0x000000000000000000000000000000000000dead'
const DEFAULT_ULN = {
  confirmations: 1n,
  requiredDVNCount: 1,
  optionalDVNCount: 0,
  optionalDVNThreshold: 0,
  requiredDVNs: [DEAD],
  optionalDVNs: [],
} as const

const creationOf = (name: string, args: readonly unknown[]): Hex => {
  const path = `@layerzerolabs/lz-evm-messagelib-v2/artifacts/contracts/uln/uln302/${name}.sol/${name}.json`
  const file = createRequire(import.meta.url).resolve(path)
  const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8')) as { abi: Abi; bytecode: Hex }
  return encodeDeployData({ abi, bytecode, args: [...args] })
}

/** Starts chains on which LayerZero knows all others, each with a default verifier that verifies nothing. */
export async function startPublicChains(
  chains: readonly { chainId: number; eid: number }[],
): Promise<PublicChain[]> {
  return Promise.all(
    chains.map(async ({ chainId, eid }) => {
      const chain = await startChain(chainId)
      const layerZero = chain.accounts[9]!
      const create = async (data: Hex) =>
        (await chain.succeed({ from: layerZero, data })).contractAddress!
      const endpoint = await create(endpointCreationTransaction(eid, layerZero).data)
      const sendLibrary = await create(creationOf('SendUln302', [endpoint, TREASURY_GAS, 0n]))
      const receiveLibrary = await create(creationOf('ReceiveUln302', [endpoint]))
      const call = (to: Address, abi: Abi, functionName: string, ...args: unknown[]) =>
        chain.succeed({
          from: layerZero,
          to,
          data: encodeFunctionData({ abi, functionName, args }),
        })
      for (const library of [sendLibrary, receiveLibrary])
        await call(endpoint, layerZeroEndpointAbi, 'registerLibrary', library)
      const others = chains.map((other) => other.eid).filter((other) => other !== eid)
      const ulns = others.map((other) => ({ eid: other, config: DEFAULT_ULN }))
      for (const library of [sendLibrary, receiveLibrary])
        await call(library, LIBRARY, 'setDefaultUlnConfigs', ulns)
      const executors = others.map((other) => ({
        eid: other,
        config: { maxMessageSize: 10_000, executor: EXECUTOR },
      }))
      await call(sendLibrary, LIBRARY, 'setDefaultExecutorConfigs', executors)
      for (const other of others) {
        await call(endpoint, layerZeroEndpointAbi, 'setDefaultSendLibrary', other, sendLibrary)
        await call(
          endpoint,
          layerZeroEndpointAbi,
          'setDefaultReceiveLibrary',
          other,
          receiveLibrary,
          0n,
        )
      }
      for (const address of [...DVNS, DEAD] as const)
        await chain.testClient.setCode({ address, bytecode: CHARGES })
      await chain.testClient.setCode({ address: EXECUTOR, bytecode: CHARGES_BID })
      const { rpcUrl } = chain
      return {
        ...chain,
        chainId,
        rpcUrl,
        eid,
        endpoint,
        sendLibrary,
        receiveLibrary,
        executor: EXECUTOR,
        dvns: DVNS,
      }
    }),
  )
}

/** Sends a call as any account, a multisig for one. */
export async function sendAs(
  chain: PublicChain,
  from: Address,
  call: { to: Address; data: Hex; value?: bigint },
) {
  await chain.testClient.impersonateAccount({ address: from })
  await chain.testClient.setBalance({ address: from, value: 10n ** 20n })
  const receipt = await chain.succeed({ from, ...call })
  await chain.testClient.stopImpersonatingAccount({ address: from })
  return receipt
}

/**
 * Carries a packet to the hub's chain as verifiers and executor do.
 * @param confirmations that the verifiers vouch for
 */
export async function carry(
  hub: PublicChain,
  { encoded, ...packet }: Packet,
  value: bigint,
  confirmations: bigint,
) {
  const header = sliceHex(encoded, 0, 81)
  const payloadHash = keccak256(sliceHex(encoded, 81))
  const at = (functionName: 'verify' | 'commitVerification', args: readonly unknown[]) => ({
    to: hub.receiveLibrary,
    data: encodeFunctionData({ abi: LIBRARY as Abi, functionName, args }),
  })
  for (const dvn of hub.dvns)
    await sendAs(hub, dvn, at('verify', [header, payloadHash, confirmations]))
  await sendAs(hub, hub.executor, at('commitVerification', [header, payloadHash]))
  const { origin, receiver, guid, message } = packet
  const args = [origin, receiver, guid, message, '0x'] as const
  const data = encodeFunctionData({ abi: layerZeroEndpointAbi, functionName: 'lzReceive', args })
  return sendAs(hub, hub.executor, { to: hub.endpoint, data, value })
}
