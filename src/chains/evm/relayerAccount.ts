import type { TypedDataDefinition } from 'viem'
import {
  formatTransactionRequest,
  isAddressEqual,
  parseTransaction,
  recoverTransactionAddress,
  recoverTypedDataAddress,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem'
import { type LocalAccount, privateKeyToAccount, toAccount } from 'viem/accounts'
import type { RelayerKey } from '../../config/relayerKey.js'
import { sentenceOf } from '../../ops/log/errors.js'
import { ChainUnavailableError, type Hex } from '../chain.js'
import { type Call, callOver } from '../rpc/evm.js'

/** A signer elsewhere that does not sign, or signs something else: worth another attempt. */
export class SignerUnavailableError extends ChainUnavailableError {
  override name = 'SignerUnavailableError'
}

/** Ends well before PostgreSQL ends the transaction in which a nonce is given (4 s). */
const SIGN_LIMIT_MS = 2_000

/**
 * Account of the relayer: a key of this process, or one behind Web3Signer's JSON-RPC.
 * @param limitMs for a signature; by hand there is no hurry
 */
export const relayerAccount = (key: RelayerKey, limitMs: number = SIGN_LIMIT_MS): LocalAccount =>
  'privateKey' in key
    ? privateKeyToAccount(key.privateKey)
    : remoteAccount(key.address, callOver(key.signerUrl, { timeoutMs: limitMs }))

/**
 * Account whose key lies behind `eth_signTransaction` and `eth_signTypedData` (Web3Signer). Only the signature of an
 * answer is used, and only over what was asked: whatever else the signer signed has another sender.
 * @throws SignerUnavailableError by its methods
 */
function remoteAccount(address: Hex, ask: Call): LocalAccount {
  return toAccount({
    address,
    async signTransaction(transaction) {
      const tx = transaction as TransactionSerializableEIP1559
      return trusted(async () => {
        const answer = await ask<Hex>('eth_signTransaction', [
          formatTransactionRequest({ from: address, data: '0x', ...tx, type: undefined }),
        ])
        const { r, s, yParity } = parseTransaction(answer)
        const raw = serializeTransaction(tx, { r: r!, s: s!, yParity: yParity! })
        return {
          signed: raw,
          signer: await recoverTransactionAddress({ serializedTransaction: raw }),
        }
      }, address)
    },
    async signTypedData(typedData) {
      const data = typedData as unknown as TypedDataDefinition
      return trusted(async () => {
        const signature = await ask<Hex>('eth_signTypedData', [address, data])
        return { signed: signature, signer: await recoverTypedDataAddress({ ...data, signature }) }
      }, address)
    },
    signMessage: () =>
      Promise.reject(new SignerUnavailableError('the remote signer signs no messages')),
  })
}

/** The key is not here: its transactions can be sent and followed, and nothing new be signed. */
export function absentAccount(address: Hex): LocalAccount {
  const refuse = () =>
    Promise.reject(new SignerUnavailableError(`the key of ${address} is not here`))
  return toAccount({ address, signTransaction: refuse, signTypedData: refuse, signMessage: refuse })
}

/** @throws SignerUnavailableError */
async function trusted<Signed>(
  sign: () => Promise<{ signed: Signed; signer: Hex }>,
  address: Hex,
): Promise<Signed> {
  const { signed, signer } = await sign().catch((error: unknown) => {
    throw new SignerUnavailableError(`the remote signer: ${sentenceOf(error)}`, { cause: error })
  })
  if (isAddressEqual(signer, address)) return signed
  throw new SignerUnavailableError('the remote signer signed something else, or with another key')
}
