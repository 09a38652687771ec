import { createWalletClient, type Hex, http, pad, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { executeCall, verifyCall } from '../../src/chains/evm/bridge/calls.js'
import { decodePacket, type Packet } from '../../src/chains/evm/bridge/packet.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import type { JobRow } from '../../src/db/outbox/rows.js'
import type { NonceTx } from '../../src/registry/outbox.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { SPOKE_EID } from '../support/bridgeContracts.js'
import { type BridgeWorld, RELAYER_KEY } from '../support/bridgeWorld.js'

/** Whom the hub hears over the bridge; while it hears nobody, every message reverts with `no_peer`. */
export const setPeer = ({ hub, contracts }: BridgeWorld, peer: Hex) =>
  hub
    .walletClient(9)
    .writeContract({ address: contracts.hub, abi: hubAbi, functionName: 'setPeer', args: [SPOKE_EID, peer] })

/** Reads the deliveries of a world's messages, and acts on the hub beside the relayer. */
export function deliveriesOf(at: () => BridgeWorld) {
  const jobsOf = async (guid: Hex): Promise<JobRow<NonceTx>[]> =>
    (await at().jobs()).filter(({ message }) => message && toHex(message.guid) === guid)

  const packetOf = async (guid: Hex): Promise<Packet> => {
    const { rows } = await at().pool.query<{ packet: Buffer }>('SELECT packet FROM messages WHERE guid = $1', [
      fromHex(guid),
    ])
    return decodePacket(toHex(rows[0]!.packet))!
  }

  return {
    packetOf,
    /** Answers the deliveries of a message, as `kind state reason`. */
    about: async (guid: Hex) =>
      (await jobsOf(guid)).map(({ kind, state, reason }) =>
        [kind, state, reason].filter((part) => part !== null).join(' '),
      ),
    deliveryOf: async (guid: Hex, kind: 'verify' | 'execute' = 'execute') =>
      (await jobsOf(guid)).find((job) => job.kind === kind)!,
    deafen: () => setPeer(at(), zeroHash),
    listen: () => setPeer(at(), pad(at().contracts.spoke)),
    /** Executes a packet from an account without rights. */
    executeAs: async (index: number, guid: Hex, value: bigint, maxFeePerGas?: bigint) =>
      at()
        .hub.walletClient(index)
        .sendTransaction({
          ...executeCall(at().contracts.hubEndpoint, await packetOf(guid)),
          value,
          gas: 1_000_000n,
          ...(maxFeePerGas ? { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas } : {}),
        }),
    /** Verifies a packet with the relayer's key, past the relayer. */
    asVerifier: async (guid: Hex) => {
      const { hub, contracts } = at()
      const client = createWalletClient({
        chain: { ...foundry, id: hub.anvil.chainId },
        account: privateKeyToAccount(RELAYER_KEY),
        transport: http(hub.anvil.rpcUrl),
      })
      return client.sendTransaction(verifyCall(contracts.hubLibrary, await packetOf(guid)))
    },
  }
}
