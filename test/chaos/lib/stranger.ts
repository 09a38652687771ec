import { encodeDeployData, encodeFunctionData, getCreateAddress, type Hex, keccak256, toHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { testBatchBytecode } from '../../../contracts/evm/artifacts/test-doubles/TestBatch.js'
import { testTokenAbi, testTokenBytecode } from '../../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { fund, walletOf } from '../../../src/testing/chains/localChain.js'
import type { ChaosChain, ChaosWorld } from './world.js'

const GAS = 500_000n

/** A stranger on a chain, with contracts of its own. */
export interface Stranger {
  chain: ChaosChain
  /** Chains that messages come from and go to: the spokes of a hub, the hub of a spoke. */
  far: readonly ChaosChain[]
  account: PrivateKeyAccount
  /** A token that behaves as badly as it says. */
  token: Hex
  /** A wallet that makes several calls in one transaction. */
  batch: Hex
}

/** Something that a stranger does. */
export type Deed = (stranger: Stranger, next: () => number) => Promise<void>

/** Makes a stranger on each chain; call before any reorg. */
export const openStrangers = ({ chains, hub }: ChaosWorld, seed: number): Promise<Stranger[]> =>
  Promise.all(
    chains.map(async (chain) => {
      const account = privateKeyToAccount(keccak256(toHex(`${seed}/stranger/${chain.label}`)))
      await fund(chain, chain.chainId, [account.address])
      const deployed = (nonce: bigint): Hex => getCreateAddress({ from: account.address, nonce })
      const [token, batch] = [deployed(0n), deployed(1n)]
      await send(chain, account, { data: encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode }) })
      await send(chain, account, { data: testBatchBytecode })
      const coins = { functionName: 'mint', args: [account.address, 10n ** 24n] } as const
      await send(chain, account, { to: token, data: encodeFunctionData({ abi: testTokenAbi, ...coins }) })
      const all = { functionName: 'approve', args: [chain.payments, 10n ** 24n] } as const
      await send(chain, account, { to: token, data: encodeFunctionData({ abi: testTokenAbi, ...all }) })
      return { chain, far: chain === hub ? chains.filter((one) => one !== hub) : [hub], account, token, batch }
    }),
  )

/** Sends without waiting, with gas given, so that what reverts is in a block too. */
export async function send(
  chain: ChaosChain,
  account: PrivateKeyAccount,
  tx: { to?: Hex; data: Hex; value?: bigint },
): Promise<void> {
  await walletOf(chain, chain.chainId, account).sendTransaction({ gas: tx.to ? GAS : 5n * GAS, ...tx })
}
