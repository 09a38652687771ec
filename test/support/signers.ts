import { createHash, createPrivateKey, sign } from 'node:crypto'
import { Secp256k1Wallet } from '@cosmjs/amino'
import { p256 } from '@noble/curves/nist.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { blake2b } from '@noble/hashes/blake2.js'
import {
  p2pkh,
  p2sh,
  p2tr,
  p2wpkh,
  RawTx,
  RawWitness,
  Script,
  Transaction,
} from '@scure/btc-signer'
import { privateKeyToAccount } from 'viem/accounts'
import type { WalletKindName } from '../../src/registry/auth/kinds.js'
import type { PayerAddressType } from '../../src/registry/families.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { ed25519PublicKey } from '../../src/registry/primitives/ed25519.js'
import { solanaAccount } from '../api/wallets.js'

/** Accounts of wallet kinds, whose messages are signed by third-party code. */

export interface Account {
  type: WalletKindName
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

/** A wallet of a browser that only signs. */
interface BrowserWallet {
  name: string
  /** Place of its account among the kind's accounts. */
  place: number
  /** Script that brings the wallet into a page. @param sign expression of the function that signs a text */
  script(address: string, sign: string): string
}

/** Wallets of a kind that also pays are in the pages' other tests. */
type RowOf<Kind> = Signers &
  (Kind extends PayerAddressType ? unknown : { inBrowser: BrowserWallet })

const HEX = { decode: fromHex, encode: toHex }
const BASE64 = {
  decode: (text: string) => Buffer.from(text, 'base64'),
  encode: (bytes: Buffer) => bytes.toString('base64'),
}

export const SIGNERS: { readonly [Kind in WalletKindName]: RowOf<Kind> } = {
  evm: { accounts: async (key) => [evmAccount(key)], ...HEX },
  solana: { accounts: async (key) => [solanaAccount(key)], ...HEX },
  bitcoin: {
    accounts: async (key) =>
      (['p2pkh', 'p2sh', 'p2wpkh', 'p2tr'] as const).map((form) => bitcoinAccount(form, key)),
    ...BASE64,
    inBrowser: {
      name: 'UniSat',
      place: 2,
      script: (address, sign) => `window.unisat = {
        requestAccounts: async () => ['${address}'],
        signMessage: (message, type) => { if (type === 'bip322-simple') return ${sign}(message) },
      }`,
    },
  },
  cosmos: {
    accounts: (key) => Promise.all(['cosmos', 'osmo'].map((prefix) => cosmosAccount(prefix, key))),
    decode: (text) => BASE64.decode(JSON.parse(text).signature),
    encode: (bytes, like) =>
      JSON.stringify({ ...JSON.parse(like), signature: BASE64.encode(bytes) }),
    inBrowser: {
      name: 'Keplr',
      place: 0,
      script: (address, sign) => `window.keplr = {
        getKey: async () => ({ bech32Address: '${address}' }),
        signArbitrary: async (chain, address, message) => JSON.parse(await ${sign}(message)),
      }`,
    },
  },
  sui: {
    accounts: async (key) => [0, 1, 2].map((flag) => suiAccount(flag, key)),
    ...BASE64,
    inBrowser: {
      name: 'Of Sui',
      place: 0,
      script: (address, sign) => `{
        const connect = async () => ({ accounts: [{ address: '${address}', chains: ['sui:mainnet'] }] })
        const signPersonalMessage = async ({ message }) => ({ signature: await ${sign}(new TextDecoder().decode(message)) })
        const features = { 'standard:connect': { connect }, 'sui:signPersonalMessage': { signPersonalMessage } }
        const wallet = { version: '1.0.0', name: 'Of Sui', icon: '', accounts: [], chains: ['sui:mainnet'], features }
        const register = ({ register }) => register(wallet)
        window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
        window.addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail))
      }`,
    },
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
    form === 'p2pkh'
      ? signedMessage(message, key)
      : Buffer.from(witness(message, payment, key)).toString('base64')
  return { type: 'bitcoin', address: payment.address!, sign }
}

function witness(
  message: string,
  payment: { script: Uint8Array; redeemScript?: Uint8Array },
  key: Uint8Array,
) {
  const hash = schnorr.utils.taggedHash('BIP0322-signed-message', Buffer.from(message))
  const scriptSig = Script.encode(['OP_0', hash])
  const spent = RawTx.encode({
    version: 0,
    segwitFlag: false,
    lockTime: 0,
    witnesses: [],
    inputs: [
      { txid: new Uint8Array(32), index: 0xffffffff, sequence: 0, finalScriptSig: scriptSig },
    ],
    outputs: [{ amount: 0n, script: payment.script }],
  })
  const txid = sha256(sha256(spent)).reverse()
  const transaction = new Transaction({
    version: 0,
    allowUnknownOutputs: true,
    allowUnknownInputs: true,
  })
  const { script, redeemScript } = payment
  const tap = script[0] === 0x51 ? { tapInternalKey: secp256k1.getPublicKey(key).subarray(1) } : {}
  transaction.addInput({
    txid,
    index: 0,
    sequence: 0,
    witnessUtxo: { amount: 0n, script },
    ...tap,
    ...(redeemScript && { redeemScript }),
  })
  transaction.addOutput({ amount: 0n, script: Script.encode(['RETURN']) })
  transaction.sign(key)
  transaction.finalize()
  return RawWitness.encode(transaction.getInput(0).finalScriptWitness!)
}

/** BIP-137 by a compressed key. */
function signedMessage(message: string, key: Uint8Array): string {
  const head = Buffer.from('\x18Bitcoin Signed Message:\n')
  const text = Buffer.from(message)
  const length = text.length < 0xfd ? [text.length] : [0xfd, text.length & 0xff, text.length >> 8]
  const signature = secp256k1.sign(
    sha256(sha256(Buffer.concat([head, Buffer.from(length), text]))),
    key,
  )
  return Buffer.concat([Buffer.of(31 + signature.recovery), signature.toBytes('compact')]).toString(
    'base64',
  )
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** Cosmos: ADR-36 with `@cosmjs/amino`, as Keplr's `signArbitrary` answers. */
async function cosmosAccount(prefix: string, key: Uint8Array): Promise<Account> {
  const wallet = await Secp256k1Wallet.fromKey(key, prefix)
  const [account] = await wallet.getAccounts()
  const { address } = account!
  return {
    type: 'cosmos',
    address,
    async sign(message) {
      const value = { signer: address, data: Buffer.from(message).toString('base64') }
      const { signature } = await wallet.signAmino(address, {
        chain_id: '',
        account_number: '0',
        sequence: '0',
        fee: { gas: '0', amount: [] },
        memo: '',
        msgs: [{ type: 'sign/MsgSignData', value }],
      })
      return JSON.stringify(signature)
    },
  }
}

/** Sui: a personal message with OpenSSL. @param flag 0: Ed25519, 1: secp256k1, 2: secp256r1 */
function suiAccount(flag: number, key: Uint8Array): Account {
  const curve = [undefined, secp256k1, p256][flag]
  const publicKey = Buffer.concat([
    Buffer.of(flag),
    curve?.getPublicKey(key) ?? ed25519PublicKey(key),
  ])
  const text64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
  const point = curve?.getPublicKey(key, false).subarray(1)
  const [x, y] = point ? [point.subarray(0, 32), point.subarray(32)] : [publicKey.subarray(1)]
  const kty = y ? 'EC' : 'OKP'
  const crv = ['Ed25519', 'secp256k1', 'P-256'][flag]
  const jwk = { kty, crv, x: text64(x!), d: text64(key), ...(y && { y: text64(y) }) }
  const signer = createPrivateKey({ key: jwk, format: 'jwk' })
  return {
    type: 'sui',
    address: toHex(blake2b(publicKey, { dkLen: 32 })),
    sign(message) {
      const text = Buffer.from(message)
      const low = text.length & 0x7f
      const high = text.length >> 7
      const intent = Buffer.of(3, 0, 0, ...(high === 0 ? [low] : [low | 0x80, high]))
      const hash = blake2b(Buffer.concat([intent, text]), { dkLen: 32 })
      const signed = sign(curve && 'sha256', hash, { key: signer, dsaEncoding: 'ieee-p1363' })
      const signature =
        curve?.Signature.fromBytes(signed, 'compact').normalizeS().toBytes('compact') ?? signed
      return Buffer.concat([publicKey.subarray(0, 1), signature, publicKey.subarray(1)]).toString(
        'base64',
      )
    },
  }
}
