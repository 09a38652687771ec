import { normalize } from 'viem/ens'
import type { ChainsFile } from '../config/chainsFile.js'
import { type FullName, parseFullName } from '../registry/primitives/name.js'
import { NETWORKS } from '../registry/primitives/network.js'
import { EnsRequestError, runOrThrowEnsRequestError } from './error.js'

export type DecodedEnsName = ReturnType<typeof decodeEnsName>

/**
 * Matches names that ENSIP-15 certainly leaves unchanged. Other names need normalization tables, and unpacking the tables
 * takes a fifth of a second once.
 */
const NORMALIZED_PATTERN = /^[a-z0-9]+([-.][a-z0-9]+)*$/

/** Longest DNS-encoded name (RFC 1035, 2.3.4). The time of `normalize` grows with the number of labels. */
const MAX_NAME_BYTES = 255

const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a DNS-encoded name by ENSIP-15: `<cluster>.<parent>`, or `<wallet>.<cluster>.<parent>` for `cluster/wallet`.
 * @returns the normalized text; the network and settings of its parent; and `fullName`, the registry's name that the
 * text stands for. `fullName` is null for the parent itself, and for a text that stands for no valid name of the
 * registry.
 * @throws EnsRequestError for a name that is malformed, can't be normalized, or is neither a configured parent nor below
 * one
 */
export function decodeEnsName(bytes: Buffer, parents: ChainsFile['ens']) {
  const given = runOrThrowEnsRequestError('The name is not DNS-encoded.', () =>
    decodeDnsLabels(bytes).join('.'),
  )
  const text = normalizeEnsName(given)
  for (const network of NETWORKS) {
    const parentSettings = parents[network]
    if (!parentSettings || !`.${text}`.endsWith(`.${parentSettings.parent}`)) continue
    const labels = text.slice(0, -parentSettings.parent.length - 1).split('.')
    return { text, network, parentSettings, fullName: parseFullName(labels.reverse().join('/')) }
  }
  throw new EnsRequestError('The name is not below an ENS name that is served here.')
}

/** @throws EnsRequestError */
const normalizeEnsName = (text: string): string =>
  runOrThrowEnsRequestError('ENS can not normalize the name (ENSIP-15).', () =>
    NORMALIZED_PATTERN.test(text) ? text : normalize(text),
  )

/**
 * ENS name that stands for a name of the registry: the reverse of `decodeEnsName`. Null where ENS can't normalize the
 * name.
 */
export function ensNameOf({ cluster, wallet }: FullName, parent: string): string | null {
  const text = [...(wallet === null ? [] : [wallet]), cluster, parent].join('.')
  try {
    return normalizeEnsName(text)
  } catch {
    return null
  }
}

/**
 * Labels of a DNS-encoded name (RFC 1035, 3.1).
 * @throws Error where the name is too long, does not end with the empty label, or has a label with a dot or not in
 * UTF-8
 */
function decodeDnsLabels(bytes: Buffer): string[] {
  if (bytes.length > MAX_NAME_BYTES) throw new RangeError('too long')
  const labels: string[] = []
  let at = 0
  while (bytes[at] !== 0) {
    const end = at + 1 + bytes[at]!
    const label = utf8Decoder.decode(bytes.subarray(at + 1, end))
    // a label with a dot would look like two labels
    if (!(end < bytes.length) || label.includes('.')) throw new RangeError('malformed')
    labels.push(label)
    at = end
  }
  if (at + 1 < bytes.length) throw new RangeError('malformed')
  return labels
}
