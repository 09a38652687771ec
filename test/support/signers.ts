import { createHash } from 'node:crypto'
import { Secp256k1Wallet } from '@cosmjs/amino'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { p2pkh, p2sh, p2tr, p2wpkh, RawTx, RawWitness, Script, Transaction } from '@scure/btc-signer'
import { privateKeyToAccount } from 'viem/accounts'
import type { KindName } from '../../src/registry/auth/kinds.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { solanaAccount } from '../api/wallets.js'

/** Accounts of wallet kinds, whose messages are signed by other code than ours. */

export interface Account {
  type: KindName
  address: string
  /** Signature over a text message in the form of the kind. */
  sign(message: string): string | Promise<string>
}

/** Row of the table of kinds: their accounts of a private key of 32 bytes, and signatures as bytes. */
interface Signers {
  accounts(key: Uint8Array): Promise<Account[]>
  decode(signature: string): Buffer
  /** Signature of other bytes. @param like a signature of the same account */
  encode(bytes: Buffer, like: string): string
}

const HEX = { decode: fromHex, encode: toHex }
const BASE64 = {
  decode: (text: string) => Buffer.from(text, 'base64'),
  encode: (bytes: Buffer) => bytes.toString('base64'),
}

export const SIGNERS: Record<KindName, Signers> = {
  evm: { accounts: async (key) => [evmAccount(key)], ...HEX },
  solana: { accounts: async (key) => [solanaAccount(key)], ...HEX },
  bitcoin: {
    accounts: async (key) => (['p2pkh', 'p2sh', 'p2wpkh', 'p2tr'] as const).map((form) => bitcoinAccount(form, key)),
    ...BASE64,
  },
  cosmos: {
    accounts: (key) => Promise.all(['cosmos', 'osmo'].map((prefix) => cosmosAccount(prefix, key))),
    decode: (text) => BASE64.decode(JSON.parse(text).signature),
    encode: (bytes, like) => JSON.stringify({ ...JSON.parse(like), signature: BASE64.encode(bytes) }),
  },
}

function evmAccount(key: Uint8Array): Account {
  const account = privateKeyToAccount(toHex(key))
  return {
    type: 'evm',
    address: account.address.toLowerCase(),
    sign: (message) => account.signMessage({ message }),
  }
}

type BitcoinForm = 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2tr'

/** Bitcoin: BIP-322 with `@scure/btc-signer`, of P2PKH BIP-137. */
function bitcoinAccount(form: BitcoinForm, key: Uint8Array): Account {
  const publicKey = secp256k1.getPublicKey(key)
  const segwit = p2wpkh(publicKey)
  const of = { p2pkh: () => p2pkh(publicKey), p2sh: () => p2sh(segwit), p2wpkh: () => segwit }
  const payment = form === 'p2tr' ? p2tr(publicKey.subarray(1)) : of[form]()
  const sign = (message: string) =>
    form === 'p2pkh' ? signedMessage(message, key) : Buffer.from(witness(message, payment, key)).toString('base64')
  return { type: 'bitcoin', address: payment.address!, sign }
}

function witness(message: string, payment: { script: Uint8Array; redeemScript?: Uint8Array }, key: Uint8Array) {
  const hash = schnorr.utils.taggedHash('BIP0322-signed-message', Buffer.from(message))
  const spent = RawTx.encode({
    ...{ version: 0, segwitFlag: false, lockTime: 0, witnesses: [] },
    inputs: [
      {
        txid: new Uint8Array(32),
        index: 0xffffffff,
        finalScriptSig: Script.encode(['OP_0', hash]),
        sequence: 0,
      },
    ],
    outputs: [{ amount: 0n, script: payment.script }],
  })
  const txid = sha256(sha256(spent)).reverse()
  const transaction = new Transaction({ version: 0, allowUnknownOutputs: true, allowUnknownInputs: true })
  const { script, redeemScript } = payment
  const tap = script[0] === 0x51 ? { tapInternalKey: secp256k1.getPublicKey(key).subarray(1) } : {}
  transaction.addInput({
    ...{ txid, index: 0, sequence: 0, witnessUtxo: { amount: 0n, script }, ...tap },
    ...(redeemScript && { redeemScript }),
  })
  transaction.addOutput({ amount: 0n, script: Script.encode(['RETURN']) })
  transaction.sign(key)
  transaction.finalize()
  return RawWitness.encode(transaction.getInput(0).finalScriptWitness!)
}

/** BIP-137 by a compressed key. */
function signedMessage(message: string, key: Uint8Array): string {
  const [head, text] = [Buffer.from('\x18Bitcoin Signed Message:\n'), Buffer.from(message)]
  const length = text.length < 0xfd ? [text.length] : [0xfd, text.length & 0xff, text.length >> 8]
  const signature = secp256k1.sign(sha256(sha256(Buffer.concat([head, Buffer.from(length), text]))), key)
  return Buffer.concat([Buffer.of(31 + signature.recovery), signature.toBytes('compact')]).toString('base64')
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** Cosmos: ADR-36 with `@cosmjs/amino`, as Keplr's `signArbitrary` answers. */
async function cosmosAccount(prefix: string, key: Uint8Array): Promise<Account> {
  const wallet = await Secp256k1Wallet.fromKey(key, prefix)
  const [account] = await wallet.getAccounts()
  const { address } = account!
  return {
    ...{ type: 'cosmos', address },
    async sign(message) {
      const value = { signer: address, data: Buffer.from(message).toString('base64') }
      const { signature } = await wallet.signAmino(address, {
        ...{ chain_id: '', account_number: '0', sequence: '0', fee: { gas: '0', amount: [] }, memo: '' },
        msgs: [{ type: 'sign/MsgSignData', value }],
      })
      return JSON.stringify(signature)
    },
  }
}
