import { ed25519 } from '@noble/curves/ed25519'
import bs58 from 'bs58'
import {
  askTestNode,
  TEST_WALLET_ICON,
  TEST_WALLET_NAME,
  type TestWalletAccounts,
  testWalletAccounts,
  testWalletChainSettings,
} from './accounts.js'

/** Length of the seed, with which the 64 bytes of a secret key begin. */
const SEED_BYTES = 32
const SIGNATURE_BYTES = 64

const SOLANA_ACCOUNTS = testWalletAccounts<{ address: string; secretKey: string }>('solana')
/** RPC URL of the local cluster, used for all of Solana's networks; null where none runs. */
const rpcUrl = testWalletChainSettings('solana') as string | null
const addresses = rpcUrl ? SOLANA_ACCOUNTS.map(({ address }) => address) : []
/** Returns the selected account; '' until the wallet is announced. */
let chosenAccount = () => ''

function signBytes(address: string, message: Uint8Array): Uint8Array {
  const { secretKey } = SOLANA_ACCOUNTS.find((account) => account.address === address)!
  return ed25519.sign(message, bs58.decode(secretKey).subarray(0, SEED_BYTES))
}

/**
 * Signs a Solana transaction of one signer and sends it. Layout of the bytes: number of signatures, signatures,
 * message.
 * @returns the transaction's signature
 */
async function signAndSend(address: string, transaction: Uint8Array): Promise<Uint8Array> {
  if (transaction[0] !== 1) throw new Error('The transaction is for several accounts.')
  const signed = transaction.slice()
  signed.set(signBytes(address, transaction.subarray(1 + SIGNATURE_BYTES)), 1)
  const params = [base64Of(signed), { encoding: 'base64', preflightCommitment: 'confirmed' }]
  return bs58.decode((await askTestNode(rpcUrl!, 'sendTransaction', params)) as string)
}

const base64Of = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
const WALLET_STANDARD_CHAINS = ['solana:mainnet', 'solana:devnet'] as const
const FEATURE_NAMES = ['solana:signMessage', 'solana:signAndSendTransaction'] as const
/** The selected account, in the form of the Wallet Standard. */
const selectedAccount = () => ({
  address: chosenAccount(),
  publicKey: bs58.decode(chosenAccount()),
  chains: WALLET_STANDARD_CHAINS,
  features: FEATURE_NAMES,
})
type SigningInput = { account: { address: string } } & Record<'message' | 'transaction', Uint8Array>

const solanaTestWallet = {
  version: '1.0.0',
  name: TEST_WALLET_NAME,
  icon: TEST_WALLET_ICON,
  chains: WALLET_STANDARD_CHAINS,
  get accounts() {
    return [selectedAccount()]
  },
  features: {
    'standard:connect': {
      version: '1.0.0',
      connect: async () => ({ accounts: [selectedAccount()] }),
    },
    'solana:signMessage': {
      version: '1.0.0',
      async signMessage({ account: { address }, message }: SigningInput) {
        return [{ signedMessage: message, signature: signBytes(address, message) }]
      },
    },
    'solana:signAndSendTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      async signAndSendTransaction({ account: { address }, transaction }: SigningInput) {
        return [{ signature: await signAndSend(address, transaction) }]
      },
    },
  },
}

export const solanaTestWalletAccounts: TestWalletAccounts = {
  addresses,
  first: addresses[0] ?? '',
  announce(getChosenAccount) {
    chosenAccount = getChosenAccount
    const register = ({ register }: { register: (wallet: object) => void }) =>
      register(solanaTestWallet)
    window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
    window.addEventListener('wallet-standard:app-ready', (event) =>
      register((event as CustomEvent).detail),
    )
  },
}
