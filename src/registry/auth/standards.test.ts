import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseWalletOrNull } from '../primitives/address.js'
import { bip322OutpointOf } from './bitcoin.js'
import { parseContractSignature } from './evm.js'
import { WALLET_KINDS, type WalletKindName, walletKindOf } from './kinds.js'
import { isSigningDateFresh, parseSigningDate, walletBoundMessage } from './message.js'

/** Vectors from the standards' own repositories. test/vectors/standards/README.md has their commits. */
function vectorsOf<T>(file: string): T {
  const path = new URL(`../../../test/vectors/standards/${file}.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** Outcome of a sign-in's check: the kind cannot have the address, cannot read the signature, or checks it. */
function outcomeOf(kind: WalletKindName, message: string, address: string, signature: string) {
  const wallet = parseWalletOrNull(address)!
  if (walletKindOf(wallet.type) !== kind) return 'unsupported address'
  const check = WALLET_KINDS[kind].read(signature)
  return check ? check(message, wallet) : 'unsupported signature'
}

interface Bip322 {
  tx_hashes?: { message: string; to_spend_tx_hash: string }[]
  simple: Bip322Signature[]
  full?: Bip322Signature[]
  proof_of_funds?: Bip322Signature[]
  error: { description?: string; message: string; address: string; signature: string }[]
}
interface Bip322Signature {
  message: string
  address: string
  type: string
  bip322_signatures: string[]
}

describe.each(['basic', 'generated'])('BIP-322, %s vectors', (file) => {
  const vectors = vectorsOf<Bip322>(`bip322-${file}`)
  const signaturesOf = (list: Bip322Signature[] = []) =>
    list.flatMap(({ bip322_signatures, ...vector }) =>
      bip322_signatures.map((signature) => ({ ...vector, signature })),
    )

  it.each(signaturesOf(vectors.simple))(
    'simple, $type, $message: verified if it belongs to a single key',
    ({ type, message, address, signature }) => {
      const isOfScript = type.startsWith('p2wsh')
      const expected = isOfScript ? 'unsupported address' : true
      expect(outcomeOf('bitcoin', message, address, signature)).toBe(expected)
      expect(outcomeOf('bitcoin', message, address, signature.replace(/^smp/, ''))).toBe(expected)
      if (!isOfScript) expect(outcomeOf('bitcoin', `${message}.`, address, signature)).toBe(false)
    },
  )

  const refused = signaturesOf([...(vectors.full ?? []), ...(vectors.proof_of_funds ?? [])])
  it.runIf(refused.length > 0).each(refused)(
    'full or proof of funds, $type: refused with a sentence that names it',
    ({ signature }) => {
      expect(signature).toMatch(/^(ful|pof)/)
      expect(WALLET_KINDS.bitcoin.read(signature)).toBeNull()
      expect(WALLET_KINDS.bitcoin.refused).toContain(`(${signature.slice(0, 3)})`)
    },
  )

  it.each(vectors.error)('refused: $description, $message', ({ message, address, signature }) =>
    expect(outcomeOf('bitcoin', message, address, signature)).not.toBe(true),
  )

  it.runIf(vectors.tx_hashes).each(vectors.tx_hashes ?? [])(
    'gives the published transaction of "$message"',
    ({ message, to_spend_tx_hash }) => {
      const script = Buffer.from('00142b05d564e6a7a33c087f16e0f730d1440123799d', 'hex')
      const id = bip322OutpointOf(message, script).subarray(0, 32).reverse()
      expect(id.toString('hex')).toBe(to_spend_tx_hash)
    },
  )
})

/** Fields of a message (EIP-4361). */
type SiweFields = Record<
  'domain' | 'address' | 'statement' | 'uri' | 'nonce' | 'issuedAt',
  string
> & {
  chainId: number
  expirationTime?: string
  notBefore?: string
  resources?: string[]
  scheme?: string
}
interface SiweProof extends SiweFields {
  signature: string
  time?: string
  domainBinding?: string
  matchNonce?: string
}

function messageOf(fields: SiweFields): string {
  const lines = [
    `${fields.domain} wants you to sign in with your Ethereum account:`,
    fields.address,
    '',
    fields.statement,
    '',
    `URI: ${fields.uri}`,
    'Version: 1',
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
  ]
  if (fields.expirationTime) lines.push(`Expiration Time: ${fields.expirationTime}`)
  if (fields.notBefore) lines.push(`Not Before: ${fields.notBefore}`)
  return lines.join('\n')
}

/** The message that the service would request, with a vector's domain, address, chain, nonce and date. */
const ourMessageOf = ({ domain, address, chainId, nonce, issuedAt }: SiweFields) =>
  walletBoundMessage({
    domain,
    wallet: parseWalletOrNull(address)!,
    chainId,
    nonce,
    signingDate: issuedAt,
  })

describe('SIWE', () => {
  const positive = vectorsOf<Record<string, SiweProof>>('siwe-verification_positive')
  it.each(Object.entries(positive))('verifies: %s', (_, proof) =>
    expect(outcomeOf('evm', messageOf(proof), proof.address, proof.signature)).toBe(true),
  )

  const negative = vectorsOf<Record<string, SiweProof>>('siwe-verification_negative')
  it.each(Object.entries(negative))('is refused: %s', (name, proof) => {
    const { domainBinding, matchNonce, ...fields } = proof
    const domain = domainBinding ?? fields.domain
    const nonce = matchNonce ?? fields.nonce
    const { address, signature } = fields
    const expected = name === 'malformed signature' ? expect.anything() : false
    expect(
      outcomeOf('evm', ourMessageOf({ ...fields, domain, nonce }), address, signature),
    ).toEqual(expected)
    const signingMs = parseSigningDate(fields.issuedAt)
    const timeMs = Date.parse(fields.time ?? '2026-11-20T08:00:00.000Z')
    expect(signingMs !== null && isSigningDateFresh(signingMs, timeMs)).toBe(false)
  })

  const parsed =
    vectorsOf<Record<string, { message: string; fields: SiweFields }>>('siwe-parsing_positive')
  const OURS = 'address chainId domain issuedAt nonce statement uri version'
  const sameLayout = Object.entries(parsed).filter(
    ([, { fields }]) => Object.keys(fields).sort().join(' ') === OURS,
  )
  it.each(sameLayout)('has the same layout as our message: %s', (_, { message, fields }) => {
    const ours = ourMessageOf(fields)
      .replace(/^Before interacting.*$/m, fields.statement)
      .replace(/^URI: .*$/m, `URI: ${fields.uri}`)
    expect(ours).toBe(message)
  })
  it('has vectors with the layout of our message', () =>
    expect(sameLayout.length).toBeGreaterThan(5))

  it.each(
    Object.entries(
      vectorsOf<Record<string, { message: string; signature: string }>>('siwe-eip1271'),
    ),
  )('reads a contract signature, which is not an account’s: %s', (_, { message, signature }) => {
    const wallet = message.split('\n')[1]!
    expect(outcomeOf('evm', message, wallet, signature)).toBe(false)
    expect(parseContractSignature(signature)).toEqual({ signature, deployment: null })
  })
})
