import { createWalletClient, type Hex, http, pad, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { expect } from 'vitest'
import { buildExecutePacketCall, buildVerifyPacketCall } from '../../src/chains/evm/bridge/calls.js'
import { decodePacket, type Packet } from '../../src/chains/evm/bridge/packet.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { addOutboxCommands } from '../../src/cli/outbox/commands.js'
import type { JobRow } from '../../src/db/outbox/rows.js'
import type { EvmJobTx } from '../../src/registry/outbox.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { SPOKE_EID } from '../support/bridgeContracts.js'
import { type BridgeWorld, RELAYER_KEY, type SteppedRelayer } from '../support/bridgeWorld.js'
import { runHere } from '../support/cli.js'
import { waitForReceipt } from '../support/receipt.js'

/** Whom the hub hears over the bridge; while it hears nobody, every message reverts with `no_peer`. */
export const setPeer = ({ hub, contracts }: BridgeWorld, peer: Hex) =>
  hub.walletClient(9).writeContract({
    address: contracts.hub,
    abi: hubAbi,
    functionName: 'setPeer',
    args: [SPOKE_EID, peer],
  })

/** Runs `clusterd outbox` on a world's database. */
export const outboxCommand =
  ({ postgres }: Pick<BridgeWorld, 'postgres'>) =>
  (...args: string[]) =>
    runHere(addOutboxCommands, ['outbox', ...args], { DATABASE_URL: postgres.url })

const relayerClient = ({ hub }: BridgeWorld) =>
  createWalletClient({
    chain: { ...foundry, id: hub.anvil.chainId },
    account: privateKeyToAccount(RELAYER_KEY),
    transport: http(hub.anvil.rpcUrl),
  })

/** The relayer's key in somebody else's hands: what it sends is in a block. */
export async function useKeyElsewhere(world: BridgeWorld, nonce: number): Promise<void> {
  const client = relayerClient(world)
  const fees = { maxFeePerGas: 10n ** 13n, maxPriorityFeePerGas: 10n ** 12n }
  const tx = { to: client.account.address, value: 1n, nonce, gas: 21_000n, ...fees }
  await waitForReceipt(world.hub.public, await client.sendTransaction(tx))
}

/** Stores that a message or payment was received in an unconfirmed block of the hub, as one node may have invented. */
export const storeUnconfirmedReceipt = ({ pool }: BridgeWorld, guid: Hex) =>
  pool.query(
    'INSERT INTO received (network, guid, tx_hash, block, log_index, bids, confirmed) VALUES (0, $1, $1, 1000000, 0, 1, false)',
    [fromHex(guid)],
  )

export const nextNonce = async ({ pool }: BridgeWorld): Promise<number> => {
  const { rows } = await pool.query<{ next_nonce: string }>('SELECT next_nonce FROM relay_signers')
  return Number(rows[0]!.next_nonce)
}

/** Lets every job end, and expects one execution of a message and no nonce gap. */
export async function finishOnce(
  world: BridgeWorld,
  guid: Hex,
  relayer: SteppedRelayer,
): Promise<void> {
  await world.finish(relayer)
  expect(await world.executions(guid)).toBe(1)
  expect(await world.nonce()).toBe(await nextNonce(world))
  await relayer.step()
  expect(relayer.state.nonceGaps).toBe(0)
}

/** Reads the deliveries of a world's messages, and acts on the hub beside the relayer. */
export function deliveriesOf(at: () => BridgeWorld) {
  const jobsOf = async (guid: Hex): Promise<JobRow<EvmJobTx>[]> =>
    (await at().jobs()).filter(({ message }) => message && toHex(message.guid) === guid)

  const packetOf = async (guid: Hex): Promise<Packet> => {
    const { rows } = await at().pool.query<{ packet: Buffer }>(
      'SELECT packet FROM messages WHERE guid = $1',
      [fromHex(guid)],
    )
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
          ...buildExecutePacketCall(at().contracts.hubEndpoint, await packetOf(guid)),
          value,
          gas: 1_000_000n,
          ...(maxFeePerGas ? { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas } : {}),
        }),
    /** Verifies a packet with the relayer's key, past the relayer. */
    asVerifier: async (guid: Hex) => {
      const call = buildVerifyPacketCall(at().contracts.hubLibrary, await packetOf(guid))
      return relayerClient(at()).sendTransaction(call)
    },
  }
}
