import { buildExecutePacketCall, buildVerifyPacketCall } from '../chains/evm/bridge/calls.js'
import { decodePacket } from '../chains/evm/bridge/packet.js'
import { decodeLzReceiveOption } from '../chains/evm/bridge/packetOptions.js'
import { layerZeroEndpointAbi } from '../chains/evm/contracts/index.js'
import { chooseLocalChains, type RunningChain } from './chains/localChains.js'
import { createLocalWalletClient, localChainClients } from './chains/localClients.js'
import { waitForReceipt } from './chains/receipt.js'
import { createSandbox, destroySandbox, type Sandbox } from './processes/sandbox.js'
import { allSettledOrThrow, startChains, startDatabase } from './stackParts.js'
import { operatorAccount } from './world.js'

const BLOCK_MS = 1_000

/**
 * Where a deployment is rehearsed. `chains` has entries of a chains file, without clusterd's contracts. `database` is
 * the URL of a migrated database without data.
 */
export type Rehearsal = Awaited<ReturnType<typeof startRehearsal>>['found']

/**
 * Starts a stand-in for the public testnet: PostgreSQL, and a hub's and a spoke's chain on which this process acts as
 * LayerZero's verifiers and executor. The chains have public labels and endpoint ids, and local chain ids. `stop`
 * removes chains and database.
 * @throws Error with one sentence where a part can't be started
 */
export async function startRehearsal(log: (line: string) => void) {
  const sandbox = await createSandbox(undefined, log)
  const stop = () => destroySandbox(sandbox)
  try {
    const [{ url: database }, chains] = await allSettledOrThrow([
      startDatabase(sandbox, undefined),
      startChains(sandbox, chooseLocalChains(['testnet'], undefined), BLOCK_MS),
    ])
    await Promise.all(chains.map((chain) => chain.resume()))
    carryPackets(chains[1]!, chains[0]!, sandbox)
    const entries = chains.map(
      ({ config: { contract, communityPayments, messageLib, startBlock, local, ...entry } }) =>
        entry,
    )
    return { found: { chains: entries, database }, failed: sandbox.failed, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Delivers each packet that a spoke's endpoint sends, in order. A packet whose execution fails is only verified. */
function carryPackets(spoke: RunningChain, hub: RunningChain, { log }: Sandbox): void {
  const wallet = createLocalWalletClient(hub, operatorAccount('relayer'))
  const send = async (transaction: Parameters<typeof wallet.sendTransaction>[0]) =>
    waitForReceipt(localChainClients(hub).reader, await wallet.sendTransaction(transaction))
  const { endpoint, messageLib } = hub.config
  let queue = Promise.resolve()
  localChainClients(spoke).reader.watchContractEvent({
    address: spoke.config.endpoint,
    abi: layerZeroEndpointAbi,
    eventName: 'PacketSent',
    strict: true,
    pollingInterval: BLOCK_MS,
    onLogs(logs) {
      for (const { args, transactionHash } of logs)
        queue = queue
          .then(async () => {
            const packet = decodePacket(args.encodedPayload)!
            const value = decodeLzReceiveOption(args.options)?.value
            await send(buildVerifyPacketCall(messageLib, packet))
            await send({ ...buildExecutePacketCall(endpoint, packet), value })
            log(`delivered the message of ${transactionHash}`)
          })
          .catch((error: Error) => log(`the message of ${transactionHash} waits: ${error.message}`))
    },
  })
}
