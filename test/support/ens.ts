import { EnsPlugin, Network as EthersNetwork, JsonRpcProvider } from 'ethers'
import {
  type Abi,
  createPublicClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  parseAbi,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { packetToBytes } from 'viem/ens'
import { ensResolverAbi } from '../../contracts/evm/artifacts/EnsResolver.js'
import { type EnsAnswer, encodeSignedEnsAnswer, ensAnswerTypedData } from '../../src/ens/answer.js'
import { createEnsGateway } from '../../src/ens/gateway.js'
import { createPrimaryNameTransactionsBuilder } from '../../src/ens/primary.js'
import type { WorldEns } from '../../src/testing/index.js'

export const ENS_CHAIN_ID = 31_337
/** Keys of the gateway, before and after a rotation, and of somebody else. */
const keyOf = (byte: number) => privateKeyToAccount(toHex(byte, { size: 32 }))
export const ensKey = keyOf(0xe1)
export const nextEnsKey = keyOf(0xe2)
export const strangersKey = keyOf(0xe3)

/** Parents of both networks with one resolver. */
export const parentsWith = (resolver: Hex) => ({
  mainnet: { parent: 'bundles.eth', resolver, chainId: ENS_CHAIN_ID },
  testnet: { parent: 'testers.eth', resolver, chainId: ENS_CHAIN_ID },
})
export const RESOLVER = `0x${'e5'.repeat(20)}` as const

/** What APIs without a chain serve of ENS: a gateway, and primary names on two chains of each network. */
export function testEns() {
  const { mainnet, testnet } = parentsWith(RESOLVER)
  const reverseRegistrars = { [ENS_CHAIN_ID]: RESOLVER, 8453: RESOLVER }
  return {
    ens: createEnsGateway({ mainnet, testnet }, ensKey.signTypedData),
    primaryNames: createPrimaryNameTransactionsBuilder({
      mainnet: { ...mainnet, reverseRegistrars },
      testnet: { ...testnet, reverseRegistrars },
    }),
  }
}

/** Clients as people have them: viem asks ENS's universal resolver, ethers walks its registry. */
export function ensClients(
  { rpcUrl, chainId }: { rpcUrl: string; chainId: number },
  { registry, universalResolver: address }: Pick<WorldEns, 'registry' | 'universalResolver'>,
) {
  const chain = {
    id: chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { ensUniversalResolver: { address } },
  }
  const network = new EthersNetwork('local', chainId)
  network.attachPlugin(new EnsPlugin(registry, chainId))
  return {
    viem: createPublicClient({ chain, transport: http(rpcUrl) }),
    ethers: new JsonRpcProvider(rpcUrl, network, { staticNetwork: network }),
  }
}

const NODE = keccak256('0x')
/** A call of a profile, `addr(bytes32,uint256)`: the node counts for nothing. */
export const callOf = (signature: string, ...args: unknown[]): Hex =>
  encodeFunctionData({
    abi: parseAbi([`function ${signature}`] as string[]) as Abi,
    args: [NODE, ...args],
  } as never)

/** The call that a client looks up, of a name as text or DNS-encoded. */
export const lookupOf = (name: string, call: Hex): Hex =>
  encodeFunctionData({
    abi: ensResolverAbi,
    functionName: 'resolve',
    args: [name.startsWith('0x') ? (name as Hex) : toHex(packetToBytes(name)), call],
  })

/** Calls that ask for addresses and a text of names below the parent. */
export const lookupsOf = (names: readonly string[]): Hex[] =>
  names.flatMap((name) =>
    [
      callOf('addr(bytes32)'),
      callOf('addr(bytes32,uint256)', 501n),
      callOf('text(bytes32,string)', 'url'),
    ].map((call) => lookupOf(`${name}.bundles.eth`, call)),
  )

/** An answer as the gateway encodes it; by default signed with its key over what it says. */
export const signedAnswer = async (
  answer: EnsAnswer,
  { by = ensKey, over = answer } = {},
): Promise<Hex> => encodeSignedEnsAnswer(answer, await by.signTypedData(ensAnswerTypedData(over)))
