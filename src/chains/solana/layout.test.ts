import { randomBytes } from 'node:crypto'
import anchor from '@coral-xyz/anchor'
import { PublicKey } from '@solana/web3.js'
import { expect, it } from 'vitest'
import { camelCase, createEventReader } from './layout.js'
import { registrarCoder, registrarIdl } from './registrar.js'

const EVENT_BYTES = 400
const readEvent = createEventReader(registrarIdl)

const ownForm = (value: { toString(): string }) => {
  if (value instanceof PublicKey) return value.toBuffer()
  return anchor.BN.isBN(value) ? BigInt(value.toString()) : Buffer.from(value as never)
}

it.each(registrarIdl.events!)('$name is read as Anchor reads it', ({ name, discriminator }) => {
  for (const filler of [randomBytes(EVENT_BYTES), Buffer.alloc(EVENT_BYTES, 255), Buffer.alloc(EVENT_BYTES)]) {
    const data = Buffer.concat([Buffer.from(discriminator), filler])
    const expected = registrarCoder.events.decode(data.toString('base64'))!
    const fields = Object.entries<object>(expected.data).map(([field, value]) => [camelCase(field), ownForm(value)])
    expect(readEvent(data)).toEqual({ name, fields: Object.fromEntries(fields) })
  }
  expect(readEvent(Buffer.from([...discriminator, 1]))).toBeNull()
})

it('refuses an interface with fields that it can’t read', () => {
  const type = { kind: 'struct', fields: [{ name: 'memo', type: 'string' }] } as const
  const idl = { ...registrarIdl, events: [{ name: 'Told', discriminator: [1] }], types: [{ name: 'Told', type }] }
  expect(() => createEventReader(idl as never)).toThrow('an event has a field of type "string"')
})
