import { Client } from '../../client/index.js'
import { LogReader } from '../../client/verify.js'
import { ConfigError, readEnvironment, readLogSigningKeys } from '../../config/index.js'
import { sha256InOneCall } from '../../registry/transparencyLog/hash.js'
import { COSIGNER_KEY_TYPE, toBase64, verifierKey } from '../../registry/transparencyLog/note.js'
import { printJson } from '../output.js'

/**
 * `clusterd log key`: prints the public keys of the log, the newest first: in base64, or as verifier keys of the log
 * `origin` or of the witness `witness`.
 * @throws ConfigError where no key is set
 */
export async function printFeedLogKeys({
  origin,
  witness,
  json,
}: {
  origin?: string
  witness?: string
  json?: boolean
}): Promise<void> {
  const form = (key: Buffer): string => {
    if (witness) return verifierKey(sha256InOneCall, witness, key, COSIGNER_KEY_TYPE)
    return origin ? verifierKey(sha256InOneCall, origin, key) : key.toString('base64')
  }
  const signing = readLogSigningKeys(readEnvironment().logKeySources)
  const keys = signing.map(({ publicKey }) => form(publicKey))
  if (keys.length === 0)
    throw new ConfigError('LOG_KEY and LOG_KEYSTORE are not set: no key signs the log of the feed.')
  if (json) printJson({ keys })
  else for (const key of keys) console.log(key)
}

interface VerifyLogOptions {
  key: string
  domain?: string
  /** Verifier keys of witnesses. */
  witness?: string[]
  /** How many of the witnesses must have signed. Default: all. */
  required?: number
  testnet?: boolean
  json?: boolean
}

/**
 * `clusterd log verify`: reads every entry of a service's log and verifies that their Merkle root is the root of its
 * signed checkpoint.
 * @throws ClusterdError, such as log_mismatch, whose message says what is wrong
 */
export async function verifyTransparencyLog(
  url: string,
  { testnet, json, witness: keys, required, ...pinned }: VerifyLogOptions,
): Promise<void> {
  const network = testnet ? 'testnet' : 'mainnet'
  const witnesses = keys && { keys, required: required ?? keys.length }
  const options = { ...pinned, witnesses, network, sha256: sha256InOneCall } as const
  const reader = new LogReader(new Client({ url }), options)
  const head = await reader.checkpoint()
  for await (const _entry of reader.entries(head));
  const root = toBase64(head.root)
  if (json) printJson({ origin: head.origin, size: head.size, root })
  else console.log(`${head.origin}: ${head.size} entries make the signed root ${root}`)
}
