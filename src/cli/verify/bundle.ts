import { Client } from '../../client/index.js'
import { verifyBundle } from '../../client/verify.js'
import { sha256InOneCall } from '../../registry/transparencyLog/hash.js'
import { printJson } from '../output.js'

interface BundleCommandOptions {
  url: string
  key: string
  /** The domain that the names of the logs begin with, then other domains that signed texts may name. */
  domain?: string[]
  testnet?: boolean
  json?: boolean
}

const REQUEST_TIMEOUT_MS = 20_000
const COMMAND_TIMEOUT_MS = 3_600_000

/**
 * `clusterd verify bundle`: prints the public wallets of a bundle, each with the kind of its evidence. Signatures of
 * contract accounts are not checked, since that needs a node.
 * @throws ClusterdError, such as log_mismatch, whose message says what is wrong
 */
export async function printVerifiedBundle(
  name: string,
  { url, testnet = false, json, key, domain: [domain, ...domains] = [] }: BundleCommandOptions,
): Promise<void> {
  const client = new Client({ url, testnet, timeoutMs: REQUEST_TIMEOUT_MS })
  const unchecked = new Set<string>()
  const bundle = await verifyBundle(client, name, {
    key,
    domain,
    domains,
    sha256: sha256InOneCall,
    timeoutMs: COMMAND_TIMEOUT_MS,
    async isSignedByContract({ address }) {
      unchecked.add(address)
      return false
    },
  })
  if (json) return printJson(bundle)
  for (const { address, name: wallet, evidence, signedAt } of bundle.wallets) {
    const isUnchecked = evidence !== 'signed' && unchecked.has(address)
    const note = isUnchecked ? ['signed by a contract: not checked'] : []
    console.log([evidence, signedAt ?? '-', `${name}/${wallet}`, address, ...note].join('  '))
  }
}
