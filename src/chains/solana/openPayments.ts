import { PublicKey } from '@solana/web3.js'
import type { Payment } from '../../registry/payment/payment.js'
import type { RpcCall } from '../rpc/nodes.js'
import {
  type CommunityPaymentAccount,
  createCommunityPaymentInstructions,
} from './community/program.js'
import { type AccountReadOptions, readRegistrarAccounts } from './reads.js'
import type { PaymentAccount, RegistrarClient } from './registrar.js'

/** Account of a payment whose money is still in the program. A payment for a name on the hub is always held. */
export type OpenPaymentAccount = (PaymentAccount & { state: 'held' }) | CommunityPaymentAccount

/**
 * Reads the accounts of payments, for names on the hub and for community names, in the order of `payments`. Null for a
 * payment whose money was paid out, even if a later payment uses its account.
 * @throws RpcError transient for a node that has not reached `minSlot`
 */
export async function readOpenPayments(
  call: RpcCall,
  registrar: RegistrarClient,
  payments: readonly Pick<Payment, 'payer' | 'sequence' | 'target'>[],
  at: AccountReadOptions,
): Promise<(OpenPaymentAccount | null)[]> {
  const program = createCommunityPaymentInstructions(registrar)
  const addresses = payments.map(({ payer: stored, target }) => {
    const payer = new PublicKey(stored.subarray(1))
    return target.kind === 'name'
      ? registrar.payment({ payer, quoteId: target.quoteId })
      : program.paymentAccount({ payer, number: target.number })
  })
  const accounts = await readRegistrarAccounts(call, registrar, addresses, at)
  return payments.map(({ sequence, target }, i) => {
    const data = accounts[i]
    if (!data) return null
    const account: OpenPaymentAccount =
      target.kind === 'name'
        ? { ...registrar.decodePayment(data), state: 'held' }
        : program.decodePayment(data)
    return account.sequence === BigInt(sequence) ? account : null
  })
}
