import { Keypair } from '@solana/web3.js'
import { encodeAbiParameters } from 'viem'
import type { PaymentChainPort } from '../../src/chains/chain.js'
import type { RpcCall, RpcNodes } from '../../src/chains/rpc/nodes.js'
import { createSolanaQuoter } from '../../src/chains/solana/quote.js'
import { createRegistrarClient } from '../../src/chains/solana/registrar.js'
import type { SolanaConfig } from '../../src/config/index.js'
import { SOLANA } from '../../src/registry/families.js'
import type { Network } from '../../src/registry/primitives/network.js'

const key = () => Keypair.generate().publicKey.toBase58()

/** Response to both `decimals` and `latestRoundData`: 8 decimals, and a price of 8. */
const PRICE = encodeAbiParameters(
  ['uint256', 'int256', 'uint256', 'uint256', 'uint256'].map((type) => ({ type })),
  [8n, 8n, 0n, BigInt(Math.floor(Date.now() / 1_000)), 0n],
)

/** Nodes that return the same responses at once, so that a quote only costs its own work. */
const nodes = (answers: Readonly<Record<string, unknown>>): RpcNodes => {
  const call: RpcCall = async <T>(method: string) => answers[method] as T
  const onOneNode = <T>(work: (one: RpcCall) => Promise<T>) => work(call)
  const pool = { call, onOneNode, quorum: onOneNode, genesisHash: async () => key() }
  return pool as unknown as RpcNodes
}

/** A Solana cluster for tests of what a quote costs. */
export function quotingCluster(network: Network): PaymentChainPort {
  const feeds = {
    ethUsd: '0x01',
    solUsd: '0x02',
    maxMovePercent: 10,
    maxAgeSeconds: { ethUsd: 86_400, solUsd: 86_400 },
  }
  const quote = createSolanaQuoter({
    config: { feeds } as unknown as SolanaConfig,
    network,
    registrar: createRegistrarClient(key()),
    quoteKey: Buffer.alloc(32, 1),
    rpc: nodes({ getLatestBlockhash: { value: { blockhash: key(), lastValidBlockHeight: 1 } } }),
    hub: nodes({ eth_call: PRICE, eth_gasPrice: '0x1' }),
  })
  return {
    family: SOLANA,
    label: 'solana',
    network,
    chain: null,
    maxAmountWei: 2n ** 128n - 1n,
    quote,
  } as unknown as PaymentChainPort
}
