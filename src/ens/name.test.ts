import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeEnsName } from './name.js'

const PARENTS = { mainnet: { parent: 'names.eth' } } as unknown as Parameters<
  typeof decodeEnsName
>[1]

interface NormalizationVector {
  name: string
  /** The normalized name, where it differs. */
  norm?: string
  error?: true
}
const vectorsUrl = new URL('../../test/vectors/standards/ensip15.json', import.meta.url)
const vectors = JSON.parse(readFileSync(vectorsUrl, 'utf8')) as NormalizationVector[]

/** DNS encoding of a name below the parent (RFC 1035, 3.1). Null for a name that DNS can't encode. */
function dnsEncodedName(name: string): Buffer | null {
  const labels = `${name}.names.eth`.split('.').map((label) => Buffer.from(label))
  if (labels.some(({ length }) => length === 0 || length > 255)) return null
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.of(label.length), label]),
    Buffer.of(0),
  ])
}

function normalizedNameOf(name: string): string | null {
  const bytes = dnsEncodedName(name)
  if (!bytes) return null
  try {
    return decodeEnsName(bytes, PARENTS).text
  } catch {
    return null
  }
}

it.each([255, 256])('a name of %i bytes is read up to the limit of DNS', (length) => {
  const labels = ['é'.repeat(31), 'é'.repeat(31), 'é'.repeat(31)]
  const rest = length - dnsEncodedName(labels.join('.'))!.length - 1
  const bytes = dnsEncodedName(['a'.repeat(rest), ...labels].join('.'))!
  expect(bytes).toHaveLength(length)
  const read = () => decodeEnsName(bytes, PARENTS).network
  if (length === 255) expect(read()).toBe('mainnet')
  else expect(read).toThrow('The name is not DNS-encoded.')
})

describe('the vectors of ENSIP-15', () => {
  const named = vectors.filter(({ name }) => dnsEncodedName(name))

  it('are all covered except names with an empty label, which DNS can’t encode', () => {
    const others = vectors.filter((vector) => !named.includes(vector)).map(({ name }) => name)
    expect(others).toEqual(['', '.', '.eth', 'eth.', '...eth', '.\u0303.'])
    expect(named.length).toBeGreaterThan(1_000)
  })

  it.each(named)('$name', ({ name, norm, error }) =>
    expect(normalizedNameOf(name)).toBe(error ? null : `${norm ?? name}.names.eth`),
  )
})
