import { type Hex, zeroAddress } from 'viem'
import type { Call } from '../rpc/nodes.js'
import { communityPaymentsAbi, hubAbi } from './contracts/index.js'
import { readContract } from './contracts/read.js'

/** An account that sends for the service, and its coins, wei. */
interface SenderFunds {
  address: Hex
  balanceWei: bigint
}

/** Money of a chain's contracts. */
export interface ChainFunds {
  /** Of a hub, wei: what the owner may withdraw, and credits of bidders. */
  hub: { keptWei: bigint; owedWei: bigint; owner: Hex } | null
  /** What the payments contract owes in each token: payments that are held, and credits; base units. */
  payments: { token: string; owed: bigint; payments: bigint }[]
  /** Who delivers, and decides about payments; zero is nobody. */
  relayers: SenderFunds[]
}

export interface FundsQuestion {
  role: 'hub' | 'spoke'
  contract: Hex
  communityPayments: Hex | null
  /** Tokens that are asked for beside the chain's own coin. */
  tokens: readonly Hex[]
}

/** Reads the money of a chain's contracts, and of the accounts that have their relayer roles. */
export async function readFunds(ask: Call, question: FundsQuestion): Promise<ChainFunds> {
  const { role, contract, communityPayments } = question
  const [hub, payments] = await Promise.all([
    role === 'hub' ? readHub(ask, contract) : null,
    communityPayments ? readPayments(ask, communityPayments, question.tokens) : { totals: [], relayer: zeroAddress },
  ])
  const addresses = [...new Set([hub?.relayer, payments.relayer].map((address) => address?.toLowerCase() as Hex))]
  const relayers = addresses.filter((address) => address && address !== zeroAddress)
  return {
    hub: hub && { keptWei: hub.keptWei, owedWei: hub.owedWei, owner: hub.owner },
    payments: payments.totals,
    relayers: await Promise.all(
      relayers.map(async (address) => ({
        address,
        balanceWei: BigInt(await ask<Hex>('eth_getBalance', [address, 'latest'])),
      })),
    ),
  }
}

async function readHub(ask: Call, contract: Hex) {
  const [keptWei, owedWei, owner, relayer] = await Promise.all([
    readContract(ask, contract, { abi: hubAbi, functionName: 'kept' }),
    readContract(ask, contract, { abi: hubAbi, functionName: 'owed' }),
    readContract(ask, contract, { abi: hubAbi, functionName: 'owner' }),
    readContract(ask, contract, { abi: hubAbi, functionName: 'relayer' }),
  ])
  return { keptWei, owedWei, owner: owner.toLowerCase() as Hex, relayer }
}

async function readPayments(ask: Call, address: Hex, tokens: readonly Hex[]) {
  const totalsOf = (token: Hex) =>
    readContract(ask, address, { abi: communityPaymentsAbi, functionName: 'totalsOf', args: [token] })
  const asked = [zeroAddress, ...tokens.filter((token) => token !== zeroAddress)]
  const [relayer, ...totals] = await Promise.all([
    readContract(ask, address, { abi: communityPaymentsAbi, functionName: 'relayer' }),
    ...asked.map(totalsOf),
  ])
  const named = totals.map(([owed, payments], i) => ({ token: asked[i]!, owed, payments }))
  return { relayer, totals: named.map((one, i) => ({ ...one, token: i === 0 ? 'native' : one.token })) }
}
