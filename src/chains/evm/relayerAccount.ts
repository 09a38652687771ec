import type { Signature, TypedDataDefinition } from 'viem'
import {
  formatTransactionRequest,
  hashTypedData,
  isAddressEqual,
  keccak256,
  parseTransaction,
  recoverAddress,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem'
import { type LocalAccount, privateKeyToAccount, toAccount } from 'viem/accounts'
import type { EvmSigningKey } from '../../config/relayerKey.js'
import { errorSentence } from '../../ops/logger/errors.js'
import { ChainUnavailableError, type Hex } from '../chain.js'
import { createJsonRpcCaller, type RpcCall } from '../rpc/evm.js'

/**
 * There is no usable signature: the remote signer gave none or signed something else, or this process has no key. Callers
 * may try again.
 */
export class SignerUnavailableError extends ChainUnavailableError {
  override name = 'SignerUnavailableError'
}

/** Timeout of a signature, ms. Less than the 4 s after which PostgreSQL ends the transaction that assigns the nonce. */
const SIGN_LIMIT_MS = 2_000

/**
 * Creates the account of a key: the relayer's, the ENS gateway's, or that of a command run by hand. The private key is in
 * this process, or behind Web3Signer's JSON-RPC.
 * @param limitMs time limit of a signature
 */
export const createSigningAccount = (
  key: EvmSigningKey,
  limitMs: number = SIGN_LIMIT_MS,
): LocalAccount =>
  'privateKey' in key
    ? privateKeyToAccount(key.privateKey)
    : createRemoteAccount(
        key.address,
        createJsonRpcCaller(key.signerUrl, { timeoutOf: () => limitMs }),
      )

/**
 * Account whose key lies behind `eth_signTransaction` and `eth_signTypedData` (Web3Signer). Only the signature of an
 * answer is used. The signature of another transaction or message recovers to another address, and is refused.
 * @returns an account whose methods throw SignerUnavailableError
 */
function createRemoteAccount(address: Hex, ask: RpcCall): LocalAccount {
  /** Any error of the request to the signer, or of its answer, becomes a SignerUnavailableError. */
  const signatureOf = async <S extends Hex | Signature>(
    hash: Hex,
    read: () => Promise<S>,
  ): Promise<S> => {
    let signature: S
    let signer: Hex
    try {
      signature = await read()
      signer = await recoverAddress({ hash, signature })
    } catch (error) {
      throw new SignerUnavailableError(`the remote signer: ${errorSentence(error)}`, {
        cause: error,
      })
    }
    if (!isAddressEqual(signer, address))
      throw new SignerUnavailableError(
        `the remote signer signed with the key of ${signer}, expected ${address}, or signed something else`,
      )
    return signature
  }
  return toAccount({
    address,
    async signTransaction(transaction) {
      const tx = transaction as TransactionSerializableEIP1559
      const request = formatTransactionRequest({
        from: address,
        data: '0x',
        ...tx,
        type: undefined,
      })
      const unsigned = serializeTransaction(tx)
      const signature = await signatureOf(keccak256(unsigned), async () => {
        const raw = await ask<Hex>('eth_signTransaction', [request])
        const { r, s, v, yParity, ...signed } = parseTransaction(raw)
        assertSameTransaction(signed, parseTransaction(unsigned))
        return { r: r!, s: s!, yParity: yParity! }
      })
      return serializeTransaction(tx, signature)
    },
    async signTypedData(typedData) {
      const data = typedData as unknown as TypedDataDefinition
      return signatureOf(hashTypedData(data), () => ask<Hex>('eth_signTypedData', [address, data]))
    },
    signMessage: () =>
      Promise.reject(new SignerUnavailableError('the remote signer signs no messages')),
  })
}

const MAX_SHOWN_FIELD_CHARS = 80

/** @throws Error that names the fields in which a signed transaction differs from the requested one */
function assertSameTransaction(signed: object, expected: object): void {
  const textOf = (transaction: object, field: string) =>
    String(Reflect.get(transaction, field) ?? 'none')
  const shown = (...of: [object, string]) => textOf(...of).slice(0, MAX_SHOWN_FIELD_CHARS)
  const differences = Object.keys({ ...expected, ...signed })
    .filter((field) => textOf(signed, field) !== textOf(expected, field))
    .map((field) => `${field} ${shown(signed, field)}, expected ${shown(expected, field)}`)
  if (differences.length > 0)
    throw new Error(`it signed another transaction: ${differences.join('; ')}`)
}

/** Account without its key: its signed transactions can be sent and followed, but nothing new can be signed. */
export function accountWithoutKey(address: Hex): LocalAccount {
  const refuse = () =>
    Promise.reject(new SignerUnavailableError(`the key of ${address} is not here`))
  return toAccount({ address, signTransaction: refuse, signTypedData: refuse, signMessage: refuse })
}
