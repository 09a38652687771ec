import { PublicKey } from '@solana/web3.js'
import { NATIVE_COIN } from '../../../registry/community/rules.js'
import { nameToWord } from '../../../registry/primitives/name.js'
import {
  ChainUnavailableError,
  type CommunityPaymentPort,
  type CommunityPaymentRequest,
  type CommunityPaymentTransaction,
  rethrowAsUnavailable,
} from '../../chain.js'
import { createTokenBalancePort } from '../../requirementInputs.js'
import type { RpcCall } from '../../rpc/nodes.js'
import type { SolanaRpc } from '../../rpc/solana.js'
import { encodeUnsignedTransaction } from '../quote.js'
import { readLatestBlockhash } from '../reads.js'
import type { RegistrarClient } from '../registrar.js'
import {
  associatedTokenAddress,
  readMintDecimalsOrNull,
  readSplTokenMintDecimals,
  readTokenAccounts,
  readTokenBalance,
  WALLET_COMMITMENT,
} from '../tokens.js'
import {
  createCommunityPaymentInstructions,
  derivePaymentNumber,
  type PaymentToken,
} from './program.js'

const NO_REFERRAL = new Uint8Array(32)

export function createSolanaCommunityPaymentPort(
  rpc: SolanaRpc,
  registrar: RegistrarClient,
): CommunityPaymentPort & Required<Pick<CommunityPaymentPort, 'tokenUnit'>> {
  const program = createCommunityPaymentInstructions(registrar)
  const asking = <T>(work: () => Promise<T>): Promise<T> =>
    rethrowAsUnavailable(`chain "${rpc.label}"`, work)

  /** Decimals of a mint, null for another address. From two nodes, because community rules depend on the answer. */
  const decimalsOf = (token: string) =>
    asking(() => rpc.quorum((call) => readMintDecimalsOrNull(call, new PublicKey(token))))

  const unsignedPayment = async (
    call: RpcCall,
    request: CommunityPaymentRequest,
  ): Promise<CommunityPaymentTransaction> => {
    const { community, name, price, referral } = request
    const payer = new PublicKey(request.payer)
    const terms = {
      payer,
      community: nameToWord(community),
      name: nameToWord(name),
      amount: price.amount,
      number: derivePaymentNumber(nameToWord(community), nameToWord(name)),
      recipient: new PublicKey(price.recipient),
      referral: referral ?? NO_REFERRAL,
    }
    const mint = price.token === NATIVE_COIN ? null : new PublicKey(price.token)
    const [{ blockhash }, token] = await Promise.all([
      readLatestBlockhash(call, WALLET_COMMITMENT),
      mint ? readPaymentToken(call, payer, mint, price.amount) : undefined,
    ])
    return {
      type: 'solana',
      data: encodeUnsignedTransaction(payer, blockhash, program.pay(terms, token)),
    }
  }

  return {
    ...createTokenBalancePort(rpc, readTokenBalance),
    communityPayments: registrar.id,
    tokenUnit: async (token) => ({ symbol: null, decimals: (await decimalsOf(token)) ?? 0 }),
    isToken: async (token) => (await decimalsOf(token)) !== null,
    communityPayment: (request) =>
      asking(() => rpc.onOneNode((call) => unsignedPayment(call, request))),
  }
}

/**
 * Reads the token of a payment, and chooses the payer's token account that pays: the associated token account, or
 * another account where only that one has the amount.
 * @throws ChainUnavailableError where the mint is not of the SPL Token program; RpcError
 */
async function readPaymentToken(
  call: RpcCall,
  payer: PublicKey,
  mint: PublicKey,
  amount: bigint,
): Promise<PaymentToken> {
  const [decimals, accounts] = await Promise.all([
    readSplTokenMintDecimals(call, mint),
    readTokenAccounts(call, payer, mint),
  ])
  if (decimals === null)
    throw new ChainUnavailableError(
      `${mint.toBase58()} is no token of the SPL Token program; set another price`,
    )
  const associated = associatedTokenAddress(payer, mint)
  const enough = accounts
    .filter((account) => account.amount >= amount)
    .map(({ address }) => address)
  const source = enough.find((address) => address.equals(associated)) ?? enough[0] ?? associated
  return { mint, decimals, source }
}
