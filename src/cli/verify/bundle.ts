import { Client } from '../../client/index.js'
import { verifyBundle } from '../../client/verify.js'
import { sha256InOneCall } from '../../registry/transparencyLog/hash.js'
import { printJson } from '../output.js'

interface BundleCommandOptions {
  url: string
  key: string
  domain?: string[]
  testnet?: boolean
  json?: boolean
}

/** Time limits of each request, and of the whole command. */
const REQUEST_LIMIT_MS = 20_000
const WHOLE_LIMIT_MS = 3_600_000

/**
 * `clusterd verify bundle`: prints the public wallets of a bundle, each with the evidence that it belongs there.
 * @throws ClusterdError log_mismatch, whose message says what is wrong
 */
export async function printVerifiedBundle(
  name: string,
  { url, testnet = false, json, key, domain: [domain, ...domains] = [] }: BundleCommandOptions,
): Promise<void> {
  const client = new Client({ url, testnet, timeoutMs: REQUEST_LIMIT_MS })
  const unchecked = new Set<string>()
  const bundle = await verifyBundle(client, name, {
    key,
    domain,
    domains,
    sha256: sha256InOneCall,
    timeoutMs: WHOLE_LIMIT_MS,
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
