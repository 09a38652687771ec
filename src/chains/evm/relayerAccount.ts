import type { Signature, TypedDataDefinition } from 'viem'
import {
  formatTransactionRequest,
  hashTypedData,
  isAddressEqual,
  keccak256,
  parseTransaction,
  recoverAddress,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerializableEIP1559,
} from 'viem'
import { type LocalAccount, privateKeyToAccount, toAccount } from 'viem/accounts'
import type { EvmSigningKey } from '../../config/relayerKey.js'
import { errorSentence } from '../../ops/log/errors.js'
import { ChainUnavailableError, type Hex } from '../chain.js'
import { createEvmRpcCaller, type RpcCall } from '../rpc/evm.js'

/** A remote signer did not sign, or signed another transaction or message. Callers may try again. */
export class SignerUnavailableError extends ChainUnavailableError {
  override name = 'SignerUnavailableError'
}

/** Timeout of a signature, ms. Less than the 4 s after which PostgreSQL ends the transaction that assigns the nonce. */
const SIGN_LIMIT_MS = 2_000

/**
 * Account of the relayer: a private key in this process, or a key behind Web3Signer's JSON-RPC.
 * @param limitMs time limit of a signature; commands run by hand may wait longer
 */
export const relayerAccount = (
  key: EvmSigningKey,
  limitMs: number = SIGN_LIMIT_MS,
): LocalAccount =>
  'privateKey' in key
    ? privateKeyToAccount(key.privateKey)
    : remoteAccount(key.address, createEvmRpcCaller(key.signerUrl, { timeoutOf: () => limitMs }))

/**
 * Account whose key lies behind `eth_signTransaction` and `eth_signTypedData` (Web3Signer). Only the signature of an
 * answer is used, and only for the requested transaction: anything else that the signer signed recovers another sender.
 * @returns an account whose methods throw SignerUnavailableError
 */
function remoteAccount(address: Hex, ask: RpcCall): LocalAccount {
  /**
   * Every error in asking the signer and in reading its answer is the signer's fault.
   * @param differences from the request in what the signer returned, as far as the answer shows them
   */
  const signatureOf = async <S extends Hex | Signature>(
    hash: Hex,
    read: () => Promise<S>,
    differences = () => '',
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
        differences()
          ? `the remote signer signed another transaction: ${differences()}`
          : `the remote signer signed with the key of ${signer}, expected ${address}, or signed something else`,
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
      let signed: TransactionSerializable = {}
      const read = async () => {
        signed = parseTransaction(await ask<Hex>('eth_signTransaction', [request]))
        return { r: signed.r!, s: signed.s!, yParity: signed.yParity! }
      }
      const hash = keccak256(serializeTransaction(tx))
      const signature = await signatureOf(hash, read, () => differencesOf(signed, tx))
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

const FIELDS = [
  'type',
  'chainId',
  'nonce',
  'to',
  'value',
  'gas',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'data',
  'accessList',
] as const
const LONGEST_VALUE = 80

/** Fields of a signed transaction that differ from the requested one, such as `nonce 8, expected 7`. */
function differencesOf(signed: TransactionSerializable, wanted: TransactionSerializable): string {
  const textOf = (transaction: TransactionSerializable, field: (typeof FIELDS)[number]) =>
    String(transaction[field] ?? '')
      .toLowerCase()
      .replace(/^(0x)?$/, '0')
  return FIELDS.filter((field) => textOf(signed, field) !== textOf(wanted, field))
    .map((field) => {
      const [found, expected] = [signed, wanted].map((one) =>
        textOf(one, field).slice(0, LONGEST_VALUE),
      )
      return `${field} ${found}, expected ${expected}`
    })
    .join('; ')
}

/** Account without its key: its signed transactions can be sent and followed, but nothing new can be signed. */
export function accountWithoutKey(address: Hex): LocalAccount {
  const refuse = () =>
    Promise.reject(new SignerUnavailableError(`the key of ${address} is not here`))
  return toAccount({ address, signTransaction: refuse, signTypedData: refuse, signMessage: refuse })
}
