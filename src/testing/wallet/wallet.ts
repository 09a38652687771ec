import { ed25519 } from '@noble/curves/ed25519'
import bs58 from 'bs58'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { walletOf } from '../chains/localChain.js'
import { payQuote } from '../solana/payQuote.js'
import type { EvmAccount, SolanaAccount, World, WorldNetwork } from '../world.js'

/** What the wallet has to know of its world. */
export interface WalletWorld extends Pick<World, 'accounts'> {
  networks: Partial<Record<Network, WorldNetwork>>
}

/** What the test wallet's script asks of its server. Keys stay here: the script has addresses alone. */
export interface WalletRequest {
  method: string
  params: Readonly<Record<string, string>>
}

const SECRET_BYTES = 32
const networksOf = (world: WalletWorld) => NETWORKS.flatMap((network) => world.networks[network] ?? [])
const chainsOf = (world: WalletWorld) => networksOf(world).flatMap(({ hub, spokes }) => [hub, ...spokes])

function evmAccount({ accounts }: WalletWorld, address: string | undefined) {
  const found = accounts.evm.find((account: EvmAccount) => account.address === address?.toLowerCase())
  if (!found) throw new Error('The test wallet has no such account.')
  return privateKeyToAccount(found.privateKey)
}

function solanaAccount({ accounts }: WalletWorld, address: string | undefined): SolanaAccount {
  const found = accounts.solana.find((account) => account.address === address)
  if (!found) throw new Error('The test wallet has no such account on Solana.')
  return found
}

const METHODS: Readonly<Record<string, (world: WalletWorld, params: WalletRequest['params']) => unknown>> = {
  accounts: (world) => ({
    evm: world.accounts.evm.map(({ address }) => address),
    solana: world.accounts.solana.map(({ address }) => address),
    chainIds: chainsOf(world).map(({ chainId }) => chainId),
  }),
  personal_sign: (world, { address, message }) =>
    evmAccount(world, address).signMessage({ message: { raw: message as Hex } }),
  eth_sendTransaction(world, { from, to, data, value, chainId }) {
    const chain = chainsOf(world).find((one) => one.chainId === Number(chainId))
    if (!chain) throw new Error(`The test wallet knows no chain ${chainId}.`)
    const call = { to: to as Hex, data: (data ?? '0x') as Hex, value: BigInt(value ?? 0) }
    return walletOf(chain, chain.chainId, evmAccount(world, from)).sendTransaction(call)
  },
  solana_sign(world, { address, message }) {
    const secret = bs58.decode(solanaAccount(world, address).secretKey).subarray(0, SECRET_BYTES)
    return [...ed25519.sign(Buffer.from(message ?? '', 'base64'), secret)]
  },
  async solana_send(world, { address, transaction, network }) {
    const solana = world.networks[network === 'testnet' ? 'testnet' : 'mainnet']?.solana
    if (!solana) throw new Error('This world has no Solana.')
    return [...bs58.decode(await payQuote(solana, solanaAccount(world, address), transaction ?? ''))]
  },
}

/** Answers the wallet's script. @throws Error with a sentence for the user */
export async function answerWallet(world: WalletWorld, { method, params }: WalletRequest): Promise<unknown> {
  if (!Object.hasOwn(METHODS, method)) throw new Error(`The test wallet has no ${method}.`)
  return METHODS[method]!(world, params)
}
