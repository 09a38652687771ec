import { encodeFunctionData, type Hex, hexToString, keccak256 } from 'viem'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { type HubWorld, MINIMUM_WEI } from '../support/hubWorld.js'

const GWEI = 10n ** 9n
const GAS = 500_000n

/** A signed transaction; `names` null for one that is no registration. */
export interface SignedTx {
  hash: Hex
  raw: Hex
  sender: number
  nonce: number
  names: readonly string[] | null
  /** Bids too little: the hub reverts. */
  isPoor: boolean
  gasPriceWei: bigint
}

/** Position of a transaction on the chain now. */
type Place =
  | { at: 'nowhere' }
  | { at: 'mempool' }
  | { at: 'mined'; block: number; succeeded: boolean }

/** The hub's chain as a wallet and a miner use it, by hand: nothing is mined unasked. */
export interface HubChain {
  sign(
    tx: Pick<SignedTx, 'sender' | 'nonce' | 'names' | 'isPoor' | 'gasPriceWei'>,
  ): Promise<SignedTx>
  /** Broadcasts the signed bytes; a node's refusal (known already, nonce used) is ignored. */
  send(tx: SignedTx): Promise<void>
  drop(tx: SignedTx): Promise<void>
  mine(blocks: number): Promise<void>
  /** Takes the newest blocks back and mines one more than they were. */
  reorg(depth: number): Promise<void>
  head(): Promise<number>
  place(tx: SignedTx): Promise<Place>
  nextNonce(sender: number): Promise<number>
  /** Every bid from a block to another in the chain's order, by the hub's logs. */
  bids(from: number, to: number): Promise<{ tx: Hex; name: string }[]>
  clearMempool(): Promise<void>
}

export const BASE_GAS_PRICE_WEI = 20n * GWEI

export function openHubChain(world: HubWorld): HubChain {
  const { public: reader, test, hub } = world
  const ask = <T>(method: string, params: unknown[]): Promise<T> =>
    reader.request({ method, params } as never)
  const mine = async (blocks: number): Promise<void> => {
    for (let i = 0; i < blocks; i++) await test.mine({ blocks: 1 })
  }
  return {
    async sign({ sender, nonce, names, isPoor, gasPriceWei }) {
      const account = world.wallet(sender)
      const amountWei = isPoor ? MINIMUM_WEI - 1n : MINIMUM_WEI
      const call = names
        ? {
            to: hub,
            value: amountWei * BigInt(names.length),
            data: encodeFunctionData({
              abi: hubAbi,
              functionName: 'placeBids',
              args: [names.map(() => amountWei), names.map((name) => toHex(nameToWord(name)))],
            }),
          }
        : { to: account.address, value: 0n }
      const fields = {
        type: 'legacy',
        chainId: world.config.chainId,
        nonce,
        gas: GAS,
        gasPrice: gasPriceWei,
      } as const
      const raw = await account.signTransaction({ ...fields, ...call })
      return { hash: keccak256(raw), raw, sender, nonce, names, isPoor, gasPriceWei }
    },
    send: ({ raw }) => ask('eth_sendRawTransaction', [raw]).then(nothing, nothing),
    drop: ({ hash }) => ask('anvil_dropTransaction', [hash]).then(nothing, nothing),
    clearMempool: () => ask('anvil_dropAllTransactions', []).then(nothing),
    mine,
    async reorg(depth) {
      await ask('anvil_rollback', [depth])
      // another time, so that an empty block isn't the one it replaces
      await test.increaseTime({ seconds: 1 })
      await mine(depth + 1)
    },
    head: async () => Number(await ask<Hex>('eth_blockNumber', [])),
    async place({ hash }) {
      const tx = await ask<{ blockNumber: Hex | null } | null>('eth_getTransactionByHash', [hash])
      if (!tx) return { at: 'nowhere' }
      if (tx.blockNumber === null) return { at: 'mempool' }
      const receipt = await ask<{ status: Hex } | null>('eth_getTransactionReceipt', [hash])
      return { at: 'mined', block: Number(tx.blockNumber), succeeded: receipt?.status === '0x1' }
    },
    nextNonce: (sender) => reader.getTransactionCount({ address: world.wallet(sender).address }),
    async bids(from, to) {
      if (to < from) return []
      const logs = await reader.getContractEvents({
        address: hub,
        abi: hubAbi,
        eventName: 'Bid',
        fromBlock: BigInt(from),
        toBlock: BigInt(to),
      })
      return logs.map(({ transactionHash, args }) => ({
        tx: transactionHash,
        name: hexToString(args.name!, { size: 32 }),
      }))
    },
  }
}

const nothing = (): void => {}
