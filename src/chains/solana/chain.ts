import type { SolanaConfig } from '../../config/index.js'
import { SOLANA } from '../../registry/families.js'
import { QUOTE_AMOUNT_BITS } from '../../registry/payment/quote.js'
import { type PaymentTx, type RegistrationRequest, rethrowAsUnavailable } from '../chain.js'
import { createTokenBalancePort } from '../requirementInputs.js'
import type { RpcCall } from '../rpc/nodes.js'
import { cacheAnswersByKey } from '../rpc/served.js'
import { readTxByTwoNodes, TOKEN_CACHE_OPTIONS, TX_STATE_CACHE_OPTIONS } from '../rpc/strangers.js'
import { createSolanaCommunityPaymentPort } from './community/port.js'
import { createRefundPort } from './openPayments.js'
import { createSolanaQuoter, type SolanaQuoterOptions } from './quote.js'
import { hasReachedCommitment, readSignatureStatuses, readTransaction } from './reads.js'
import { createRegistrarClient, type RegistrarClient } from './registrar.js'
import { readTokenBalance } from './tokens.js'

const CHAIN_TEXT = `chain "${SOLANA.label}"`
/** Number of confirmations, as nodes count them, with which a transaction is final. */
const FINAL_CONFIRMATIONS = 32
/** Maximum number of names in one quote. Each name has its own transaction and account, which take time to derive. */
const MAX_NAMES_PER_QUOTE = 25

/** A network's Solana cluster, and the registrar program on it. */
export type SolanaChain = ReturnType<typeof createSolanaChain>

export function createSolanaChain(options: Omit<SolanaQuoterOptions, 'registrar'>) {
  const { config, network, rpc } = options
  const registrar = createRegistrarClient(config.programId)
  // these calls have limits of their own: anonymous requests must not slow the payment watcher down
  const apiRpc = rpc.forUse('api')
  const quote = createSolanaQuoter({ ...options, rpc: apiRpc, registrar })
  const { tokenBalance, tokenUnit } = createSolanaCommunityPaymentPort(
    rpc.forUse('tokens'),
    registrar,
  )
  const transaction = (signature: string) =>
    rethrowAsUnavailable(CHAIN_TEXT, () =>
      readTxByTwoNodes(rpc.forUse('status'), (call) =>
        readPaymentTx(call, registrar, signature, config.commitment),
      ),
    )
  return {
    config,
    rpc,
    registrar,
    network,
    ...createSolanaCommunityPaymentPort(apiRpc, registrar),
    tokenBalance,
    tokenUnit: cacheAnswersByKey(tokenUnit, TOKEN_CACHE_OPTIONS),
    recentBalance: cacheAnswersByKey(tokenBalance, TOKEN_CACHE_OPTIONS),
    /** Reads balances for decisions about payments (the payment judge), with call limits of its own. */
    balances: createTokenBalancePort(rpc.forUse('judge'), readTokenBalance),
    family: SOLANA,
    chain: null as number | null,
    role: 'spoke' as const,
    gasToken: { symbol: 'SOL', decimals: 9 },
    isWatchOnly: false,
    explorer: null,
    name: 'Solana',
    publicRpcUrls: [],
    contract: config.programId,
    chainId: null,
    maxNames: MAX_NAMES_PER_QUOTE,
    // the registrar program stores bids in 128 bits
    maxAmountWei: 2n ** QUOTE_AMOUNT_BITS - 1n,
    refunds: createRefundPort(rpc.forUse('refunds'), registrar),
    transaction: cacheAnswersByKey(transaction, TX_STATE_CACHE_OPTIONS),
    quote: (request: RegistrationRequest) => rethrowAsUnavailable(CHAIN_TEXT, () => quote(request)),
  }
}

async function readPaymentTx(
  call: RpcCall,
  registrar: RegistrarClient,
  signature: string,
  commitment: SolanaConfig['commitment'],
): Promise<PaymentTx> {
  const [status] = await readSignatureStatuses(call, [signature])
  if (!status) return { state: 'unknown' }
  const { slot, err, confirmations } = status
  const isConfirmed = confirmations === null || hasReachedCommitment(status, commitment)
  const need = commitment === 'confirmed' ? 1 : FINAL_CONFIRMATIONS
  const tx = await readTransaction(call, registrar, signature, 'confirmed')
  return {
    state: 'mined',
    block: slot,
    succeeded: err === null,
    isOurs: tx?.isOurs ?? false,
    isRegistration:
      err === null && (tx === null || tx.payments.length + tx.communityPayments.length > 0),
    confirmations: { have: isConfirmed ? need : Math.min(confirmations ?? 0, need - 1), need },
    isConfirmed,
  }
}
