import { createInterface } from 'node:readline/promises'
import type { Hex } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import type { DeploymentStep } from '../../chains/evm/deployment/item.js'
import { type DeploymentChain, sendDeploymentCall } from '../../chains/evm/deployment/send.js'
import { createSigningAccount } from '../../chains/evm/relayerAccount.js'
import { readKeyFromKeystoreOrSigner } from '../../config/relayerKey.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { colourText } from '../output.js'

export interface SigningOptions {
  keystore?: string
  passwordFile?: string
  signerUrl?: string
  from?: Buffer
  unsigned?: boolean
  yes?: boolean
}

/** Time limit for the answer of a remote signer, where a person may have to confirm. */
const SIGN_LIMIT_MS = 120_000

const KEY_OPTION_NAMES = {
  keystore: '--keystore',
  passwordFile: '--password-file',
  signerUrl: '--signer-url',
  address: '--from',
}

/** The signing account that the options name; null if they name no key. @throws ConfigError, Error with one sentence */
export function signingAccountOfOptions({
  keystore,
  passwordFile,
  signerUrl,
  from,
  unsigned,
}: SigningOptions): LocalAccount | null {
  if (unsigned && (keystore || signerUrl))
    throw new Error('--unsigned needs no key: leave --keystore and --signer-url out.')
  const key = readKeyFromKeystoreOrSigner(
    { keystore, passwordFile, signerUrl, address: from && toHex(from) },
    KEY_OPTION_NAMES,
  )
  return key ? createSigningAccount(key, SIGN_LIMIT_MS) : null
}

/** Chains and signer of the transactions that `sendDeploymentSteps` sends. */
interface DeploymentContext {
  /** Chains by label. */
  chains: ReadonlyMap<string, DeploymentChain>
  /** Account that signs; null if the options name no key. */
  account: LocalAccount | null
  /** Account to print as the sender of steps that any account may send, by chain label. */
  owners: ReadonlyMap<string, Hex>
  /** Called after the operator's yes, before the first transaction. Throws where the steps are no longer right. */
  recheck?(): Promise<void>
}

/**
 * Sends the transactions of deployment steps one by one, in order, up to the first step that needs another key. With
 * `--unsigned` it prints all steps instead.
 * @returns whether steps were sent
 * @throws Error with one sentence where the key is missing or is not the key that the first step needs, or the operator
 * declines; errors of `recheck` and `sendDeploymentCall`
 */
export async function sendDeploymentSteps(
  steps: readonly DeploymentStep[],
  { chains, account, owners, recheck }: DeploymentContext,
  options: SigningOptions,
): Promise<boolean> {
  if (options.unsigned) {
    for (const { chain, by, to, data, value, does } of steps) {
      const from = by ?? owners.get(chain)!
      console.log(
        JSON.stringify({
          chain,
          chainId: chains.get(chain)!.chainId,
          from,
          to,
          value: `${value}`,
          data,
          does,
        }),
      )
    }
    return false
  }
  if (!account)
    throw new Error(
      `${transactionCountText(steps.length)} to send, and no key: say --keystore, --signer-url or --unsigned.`,
    )
  const isForeign = ({ by }: DeploymentStep) => by !== null && by !== account.address.toLowerCase()
  const foreign = steps.find(isForeign)
  const ownSteps = foreign ? steps.slice(0, steps.indexOf(foreign)) : steps
  const rest =
    foreign &&
    `${foreign.by} has to sign the next: ${stepText(foreign)}. Use its key, or --unsigned.`
  if (ownSteps.length === 0) throw new Error(rest)
  for (const step of ownSteps) console.log(stepText(step))
  await confirmOnTerminal(
    `Send ${transactionCountText(ownSteps.length)} from ${account.address}?`,
    options,
  )
  await recheck?.()
  for (const step of ownSteps) {
    const { block, hash } = await sendDeploymentCall(chains.get(step.chain)!, account, step)
    console.log(`${colourText('green', 'sent')}  ${stepText(step)}, block ${block}, ${hash}`)
  }
  if (rest) console.log(rest)
  return true
}

const transactionCountText = (count: number): string =>
  count === 1 ? 'one transaction' : `${count} transactions`

const stepText = ({ chain, does }: DeploymentStep): string => `chain ${chain}: ${does}`

/**
 * Asks the operator for confirmation, except with `--yes`.
 * @throws Error where stdin is no terminal, or the answer is not yes
 */
export async function confirmOnTerminal(
  question: string,
  { yes }: { yes?: boolean },
): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY)
    throw new Error('Nothing was sent: say --yes where no terminal can be asked.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was sent.')
}
