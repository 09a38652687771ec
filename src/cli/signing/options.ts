import type { Command } from 'commander'
import { relayerAccount } from '../../chains/evm/relayerAccount.js'
import { keyFrom } from '../../config/relayerKey.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { addressOf } from '../values.js'

/** Who signs what a command wants to send on EVM chains. */
export interface SigningOptions {
  keystore?: string
  passwordFile?: string
  signerUrl?: string
  from?: string
  unsigned?: string
  out?: string
  dryRun?: boolean
  yes?: boolean
}

/** Forms of unsigned transactions: batches for the Safe Transaction Builder, or one JSON object a line. */
const FORMS = ['safe', 'raw'] as const
export type UnsignedForm = (typeof FORMS)[number]

/** Time that a person may take behind a remote signer. */
const SIGN_LIMIT_MS = 120_000

const NAMES = {
  ...{ keystore: '--keystore', passwordFile: '--password-file' },
  ...{ signerUrl: '--signer-url', address: '--from' },
}

/** Options of every command that sends transactions on EVM chains. A key is never one of them. */
export const withSigning = (command: Command): Command =>
  command
    .option('--keystore <file>', 'sign with the key of a keystore file (Web3 Secret Storage, version 3)')
    .option('--password-file <file>', 'the file of its password')
    .option('--signer-url <url>', 'or with a signer elsewhere (Web3Signer’s eth_signTransaction)')
    .option('--from <address>', 'and the address whose key it has')
    .option(
      '--unsigned <form>',
      'or send nothing: `safe` writes batches for the Safe Transaction Builder, `raw` prints',
    )
    .option('--out <folder>', 'where `--unsigned safe` writes its files', '.')
    .option('--dry-run', 'print every transaction with its gas and cost, and send nothing')
    .option('--yes', 'do not ask before sending')

/** The account that signs; null where none is named. @throws ConfigError, Error with one sentence */
export function accountOf({ keystore, passwordFile, signerUrl, from }: SigningOptions) {
  const address = from === undefined ? undefined : toHex(addressOf('--from', from))
  const key = keyFrom({ keystore, passwordFile, signerUrl, address }, NAMES)
  return key ? relayerAccount(key, SIGN_LIMIT_MS) : null
}

/** Who signs what is to be sent now; null where nothing is sent, or nobody is named. */
export const senderOf = (options: SigningOptions) => (formOf(options) || options.dryRun ? null : accountOf(options))

/** The form of unsigned transactions that is asked for; null where they are to be sent. */
export function formOf({ unsigned, keystore, signerUrl }: SigningOptions): UnsignedForm | null {
  if (unsigned === undefined) return null
  if (keystore || signerUrl) throw new Error('--unsigned needs no key: leave --keystore and --signer-url out.')
  const form = FORMS.find((known) => known === unsigned)
  if (!form) throw new Error(`--unsigned is ${FORMS.join(' or ')}.`)
  return form
}
