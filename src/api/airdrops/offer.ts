import type { DistributorClaim, Hex } from '../../chains/chain.js'
import type { BundleWallet, OpenAirdrop } from '../../db/airdrop/read.js'
import type { Address } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Session } from '../auth/session.js'
import { type Context, chainsOf } from '../http/context.js'

/** Why a claim comes without a transaction. */
export const NO_TRANSACTION = [
  /** It is claimed. */
  'claimed',
  /** Somebody is claiming it: the claim is on its chain and not confirmed yet. */
  'pending',
  /** The distributor isn't deployed yet. */
  'no_distributor',
  /** No claim is taken any more. */
  'ended',
  /** It would link a private wallet with others on chain: `link=true` asks for it all the same. */
  'private_wallet',
  /** The allocation of a Solana account is paid to an EVM wallet, and the bundle has none that is verified. */
  'no_evm_wallet',
  /** The operator permits no claims of Solana accounts. */
  'no_operator',
  /** The chain of the distributor isn't served here. */
  'chain_not_served',
] as const
export type NoTransaction = (typeof NO_TRANSACTION)[number]

export interface ClaimsRequest {
  network: Network
  session: Pick<Session, 'wallet' | 'type'>
  /** Whether private wallets may be linked with others on chain. */
  link: boolean
}

/** A permission is good for an hour at most; with this grain, requests of ten minutes share a signature. */
const PERMISSION_S = 3_600
const PERMISSION_GRAIN_S = 600

/** A verified wallet of the bundle. */
export type Claimant = BundleWallet & Pick<Address, 'type' | 'text'>

interface Refused {
  /** Why there is no transaction. */
  reason: NoTransaction
}
interface Offered {
  /** Who is paid. */
  receiver: Hex
  transaction: { to: Hex; data: Hex; value: '0' }
}

/** Makes the transaction that claims an allocation, or says why there is none. */
export type Offer = (claimant: Claimant, claim: DistributorClaim) => Promise<Offered | Refused>

/**
 * How a bundle claims from an airdrop: an EVM account is paid itself, whoever sends the transaction; a Solana account's tokens go
 * to an EVM wallet of the bundle, by a permission that the operator's key signs. Neither links a private wallet with others
 * unless that is asked for.
 */
export function offerOf(
  context: Context,
  { network, session, link }: ClaimsRequest,
  { distributor, endsAtS, state, label }: OpenAirdrop,
  wallets: readonly Claimant[],
): Offer {
  const nowS = Math.floor(context.now() / 1_000)
  if (!distributor || endsAtS === null) return refusing('no_distributor')
  if (state === 'ended' || nowS >= endsAtS) return refusing('ended')
  const port = chainsOf(context, network).find((chain) => chain.label === label)?.distributors
  if (!port) return refusing('chain_not_served')
  const to = toHex(distributor)
  const offered = (receiver: Hex, data: Hex): Offered => ({ receiver, transaction: { to, data, value: '0' } })
  const ofSolana = receiverOf(session, wallets, link)
  const deadlineS = Math.min(endsAtS - 1, Math.floor(nowS / PERMISSION_GRAIN_S) * PERMISSION_GRAIN_S + PERMISSION_S)
  return async ({ type, text, isPrivate }, claim) => {
    if (isPrivate && !link) return { reason: 'private_wallet' }
    if (type === 'evm') return offered(text as Hex, port.claim(claim))
    const { permissionSigner: signer } = context
    if (!signer) return { reason: 'no_operator' }
    if ('reason' in ofSolana) return ofSolana
    const { receiver } = ofSolana
    const signature = await signer.sign({
      ...{ chainId: port.chainId, distributor: to, to: receiver, deadlineS: BigInt(deadlineS) },
      ...{ index: BigInt(claim.index), account: claim.account },
    })
    return offered(receiver, port.claimFor(claim, { to: receiver, deadlineS, signature }))
  }
}

const refusing =
  (reason: NoTransaction): Offer =>
  async () => ({ reason })

/**
 * The EVM wallet that Solana accounts of a bundle are paid through: the caller's own, of a Solana caller the bundle's oldest, a
 * public one before private ones. A private one is named on chain then, beside the Solana account: only where that is asked for.
 */
function receiverOf(
  { wallet, type }: ClaimsRequest['session'],
  wallets: readonly Claimant[],
  link: boolean,
): Pick<Offered, 'receiver'> | Refused {
  const evm = wallets.filter((one) => one.type === 'evm')
  const own = evm.find(({ address }) => address.equals(wallet))
  const chosen = type === 'evm' ? own : (evm.find(({ isPrivate }) => !isPrivate) ?? evm[0])
  if (!chosen) return { reason: 'no_evm_wallet' }
  return chosen.isPrivate && !link ? { reason: 'private_wallet' } : { receiver: chosen.text as Hex }
}
