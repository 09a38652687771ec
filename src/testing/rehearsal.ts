import { layerZeroEndpointAbi } from '../chains/evm/contracts/index.js'
import {
  type BridgeCall,
  buildExecutePacketCall,
  buildVerifyPacketCall,
} from '../chains/evm/bridge/calls.js'
import { decodePacket } from '../chains/evm/bridge/packet.js'
import { decodeLzReceiveOption } from '../chains/evm/bridge/packetOptions.js'
import type { Hex } from '../chains/chain.js'
import { chooseLocalChains, type RunningChain } from './chains/localChains.js'
import { createLocalWalletClient, localChainClients } from './chains/localClients.js'
import { waitForReceipt } from './chains/receipt.js'
import { createSandbox, destroySandbox, type Sandbox } from './processes/sandbox.js'
import { allSettledOrThrow, startChains, startDatabase } from './stackParts.js'
import { operatorAccount } from './world.js'

const BLOCK_MS = 1_000

/** What a deployment finds: chains with LayerZero, and an empty database. */
export type Rehearsal = Awaited<ReturnType<typeof startRehearsal>>

/**
 * Starts what a deployment on the public testnet finds, on this machine: PostgreSQL, and chains on which this process
 * plays LayerZero's verifiers and executor. The chains have public labels and endpoint ids, and local chain ids.
 * `stop` removes all of it.
 * @throws Error with one sentence where a part can't be started
 */
export async function startRehearsal(log: (line: string) => void) {
  const sandbox = await createSandbox(undefined, log)
  try {
    const [{ url: database }, chains] = await allSettledOrThrow([
      startDatabase(sandbox, undefined),
      startChains(sandbox, chooseLocalChains(['testnet'], undefined), BLOCK_MS),
    ])
    await Promise.all(chains.map((chain) => chain.resume()))
    carryPackets(sandbox, chains)
    return {
      database,
      /** Entries of a chains file, as for a public chain: without contracts of ours, and not marked as local. */
      chains: chains.map(({ config }) => {
        const { label, role, chainId, rpcUrls, wsUrl, endpoint, eid, confirmation } = config
        return { label, role, chainId, rpcUrls, wsUrl, endpoint, eid, confirmation }
      }),
      failed: sandbox.failed,
      stop: () => destroySandbox(sandbox),
    }
  } catch (error) {
    await destroySandbox(sandbox)
    throw error
  }
}

/** Delivers each packet that an endpoint sends, in order. A packet whose execution reverts stays verified. */
function carryPackets({ closers, log }: Sandbox, chains: readonly RunningChain[]): void {
  let queue: Promise<unknown> = Promise.resolve()
  for (const chain of chains) {
    const unwatch = localChainClients(chain).reader.watchContractEvent({
      address: chain.config.endpoint,
      abi: layerZeroEndpointAbi,
      eventName: 'PacketSent',
      strict: true,
      pollingInterval: BLOCK_MS,
      onLogs(logs) {
        for (const { args, transactionHash } of logs)
          queue = queue
            .then(() => carryPacket(chains, args.encodedPayload, args.options))
            .then(
              () => log(`delivered the message of ${transactionHash}`),
              (error: Error) => log(`the message of ${transactionHash} waits: ${error.message}`),
            )
      },
    })
    closers.push(async () => unwatch())
  }
}

async function carryPacket(
  chains: readonly RunningChain[],
  encoded: Hex,
  options: Hex,
): Promise<void> {
  const packet = decodePacket(encoded)
  const chain = chains.find(({ eid }) => eid === packet?.dstEid)
  if (!packet || !chain) throw new Error('no chain here has its endpoint id')
  const { endpoint, messageLib } = chain.config
  const wallet = createLocalWalletClient(chain, operatorAccount('relayer'))
  const send = async (call: BridgeCall, value = 0n) => {
    const hash = await wallet.sendTransaction({ ...call, value })
    await waitForReceipt(localChainClients(chain).reader, hash)
  }
  await send(buildVerifyPacketCall(messageLib, packet))
  await send(buildExecutePacketCall(endpoint, packet), decodeLzReceiveOption(options)?.value)
}
