import type { AirdropDistributorClaim, Hex } from '../../chains/chain.js'
import type { AirdropWithoutClaimCounts } from '../../db/airdrop/airdrops.js'
import type { WalletWithAllocation } from '../../db/airdrop/answers.js'
import type { Wallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { type Context, evmChainsOfNetwork } from '../http/context.js'
import type { Session } from '../http/route.js'

/** Reasons why a claim comes without a transaction. */
export const NO_TRANSACTION_REASONS = [
  /** The claim is confirmed. */
  'claimed',
  /** The claim is on its chain, and not confirmed yet. */
  'pending',
  /** The distributor is not deployed yet. */
  'no_distributor',
  /** The airdrop has ended. */
  'ended',
  /** The transaction would link a private wallet with other wallets on chain. `link=true` permits it. */
  'private_wallet',
  /** A wallet that is no EVM account is paid through a verified EVM wallet, and the cluster has none. */
  'no_evm_wallet',
  /** The operator has no key to sign the permission that a wallet other than an EVM account needs. */
  'no_operator',
  /** The distributor's chain is not configured. */
  'chain_not_served',
] as const
type NoTransaction = (typeof NO_TRANSACTION_REASONS)[number]

export interface ClaimsRequest {
  session: Pick<Session, 'wallet' | 'type'>
  /** Whether the transaction may link private wallets with other wallets on chain. */
  link: boolean
}

/**
 * Lifetime of a claim permission, seconds. Its deadline is rounded to `PERMISSION_GRAIN_S`, so requests within ten
 * minutes share a signature.
 */
const PERMISSION_S = 3_600
const PERMISSION_GRAIN_S = 600

/** Verified wallet of the caller's cluster, with its allocation. */
export type ClaimingWallet = WalletWithAllocation & Pick<Wallet, 'type' | 'text'>

type Refused = { reason: NoTransaction }
interface Offered {
  /** Account that receives the tokens. */
  receiver: Hex
  /** Account that has to send the transaction; absent where any account may send it. */
  sender?: Hex
  transaction: { to: Hex; data: Hex; value: '0' }
}

/** Returns the transaction that claims an allocation, or the reason why there is none. */
export type ClaimTransactionBuilder = (
  claimant: ClaimingWallet,
  claim: AirdropDistributorClaim,
) => Promise<Offered | Refused>

/**
 * Creates the claim transactions of a cluster for an airdrop. An EVM account claims for itself. The tokens of any other
 * account go to an EVM wallet of the cluster, under a permission signed by the operator's key; any account may send
 * that transaction. A transaction links a private wallet with other wallets only if the request sets `link`.
 */
export function createClaimTransactionBuilder(
  context: Context,
  { session, link }: ClaimsRequest,
  { distributor, endsAtS, state, label }: AirdropWithoutClaimCounts,
  wallets: readonly ClaimingWallet[],
): ClaimTransactionBuilder {
  if (!distributor || endsAtS === null) return refusing('no_distributor')
  const nowS = Math.floor(context.now() / 1_000)
  if (state === 'ended' || nowS >= endsAtS) return refusing('ended')
  const deadlineS = Math.min(endsAtS - 1, nowS - (nowS % PERMISSION_GRAIN_S) + PERMISSION_S)
  const port = evmChainsOfNetwork(context).find((chain) => chain.label === label)
  if (!port) return refusing('chain_not_served')
  const to = toHex(distributor)
  const transactionOf = (data: Hex): Offered['transaction'] => ({ to, data, value: '0' })
  const ofOther = receiverOf(session, wallets, link)
  return async ({ type, text, isPrivate }, claim) => {
    if (isPrivate && !link) return { reason: 'private_wallet' }
    if (type === 'evm')
      return {
        receiver: text as Hex,
        transaction: transactionOf(port.claimData(claim)),
        sender: text as Hex,
      }
    const { permissionSigner: signer } = context
    if (!signer) return { reason: 'no_operator' }
    if ('reason' in ofOther) return ofOther
    const { receiver } = ofOther
    const signature = await signer.sign({
      chainId: port.chainId,
      distributor: to,
      to: receiver,
      deadlineS: BigInt(deadlineS),
      index: BigInt(claim.index),
      account: claim.account,
    })
    return {
      receiver,
      transaction: transactionOf(port.claimForData(claim, { to: receiver, deadlineS, signature })),
    }
  }
}

const refusing =
  (reason: NoTransaction): ClaimTransactionBuilder =>
  async () => ({ reason })

/**
 * EVM wallet that receives the tokens of the cluster's other accounts: the caller's wallet, else the cluster's oldest
 * public wallet, else its oldest private wallet. The transaction shows the receiver beside the other account, so a
 * private receiver needs `link`.
 */
function receiverOf(
  { wallet, type }: ClaimsRequest['session'],
  wallets: readonly ClaimingWallet[],
  link: boolean,
): Pick<Offered, 'receiver'> | Refused {
  const evm = wallets.filter((one) => one.type === 'evm')
  const own = evm.find(({ address }) => address.equals(wallet))
  const chosen = type === 'evm' ? own : (evm.find(({ isPrivate }) => !isPrivate) ?? evm[0])
  if (!chosen) return { reason: 'no_evm_wallet' }
  return chosen.isPrivate && !link ? { reason: 'private_wallet' } : { receiver: chosen.text as Hex }
}
