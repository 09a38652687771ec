import type { TypedDataDefinition } from 'viem'
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
import { errorSentence, isInternalError } from '../../ops/log/errors.js'
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
      const answer = await asked(ask<Hex>('eth_signTransaction', [request]))
      const hash = keccak256(serializeTransaction(tx))
      const signature = await read(async () => {
        const { r, s, yParity } = parseTransaction(answer)
        const parts = { r: r!, s: s!, yParity: yParity! }
        return { parts, signer: await recoverAddress({ hash, signature: parts }) }
      })
      checkSigner(signature.signer, address)
      return serializeTransaction(tx, signature.parts)
    },
    async signTypedData(typedData) {
      const data = typedData as unknown as TypedDataDefinition
      const hash = hashTypedData(data)
      const signature = await asked(ask<Hex>('eth_signTypedData', [address, data]))
      checkSigner(await read(() => recoverAddress({ hash, signature })), address)
      return signature
    },
    signMessage: () =>
      Promise.reject(new SignerUnavailableError('the remote signer signs no messages')),
  })
}

/** Account without its key: its signed transactions can be sent and followed, but nothing new can be signed. */
export function accountWithoutKey(address: Hex): LocalAccount {
  const refuse = () =>
    Promise.reject(new SignerUnavailableError(`the key of ${address} is not here`))
  return toAccount({ address, signTransaction: refuse, signTypedData: refuse, signMessage: refuse })
}

const ofSigner = (error: unknown): SignerUnavailableError =>
  new SignerUnavailableError(`the remote signer: ${errorSentence(error)}`, { cause: error })

/**
 * Waits for the signer's answer.
 * @throws SignerUnavailableError where the signer fails; programming errors unchanged
 */
function asked<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw isInternalError(error) ? error : ofSigner(error)
  })
}

/** Parses an answer of the signer. Every error in parsing is the signer's fault. @throws SignerUnavailableError */
async function read<T>(parse: () => Promise<T>): Promise<T> {
  return parse().catch((error: unknown) => {
    throw ofSigner(error)
  })
}

/** Checks that the recovered signer is the account. @throws SignerUnavailableError */
function checkSigner(signer: Hex, address: Hex): void {
  if (!isAddressEqual(signer, address))
    throw new SignerUnavailableError('the remote signer signed something else, or with another key')
}
