import { gzipSync } from 'node:zlib'
import { parseCheckpoint, parseNote } from '../../src/registry/transparencyLog/note.js'
import { signCheckpoint } from '../../src/registry/transparencyLog/signer.js'
import { randomAddress } from '../api/support.js'
import { createdBy, type Event, filesOf, keys, leavesOf, serving } from './support.js'

export const mallory = randomAddress()
export const alice = randomAddress()
export const cluster = (digit: string) => `0x${digit.repeat(64)}`

export const registered = (from: string, of = cluster('1'), name = 'alice'): Event => [
  'REGISTER_NAME',
  { name, wei_amount: '1', cluster_id: of },
  from,
]
export const moved = (from: string, to: string): Event => [
  'TRANSFER_NAME',
  { name: 'alice', to, from_cluster_id: from },
  mallory,
]

/** 602 entries: three bundles. */
export const honest = (names = 599) =>
  leavesOf([
    ...createdBy(cluster('1'), mallory),
    ...Array.from({ length: names }, (_, i) => registered(mallory, cluster('1'), `name-${i}`)),
  ])

/** A log whose file at a path is another one. */
export function altered(
  path: string,
  alter: (bytes: Buffer) => Buffer,
  of = honest(),
): typeof fetch {
  const log = filesOf(of)
  const files = new Map(log.files)
  const bytes = files.get(path)
  if (!bytes) throw new Error(`the log has no ${path}`)
  files.set(path, alter(Buffer.from(bytes)))
  return serving({ files })
}

export const BUNDLE = '1/tile/entries/001'

export const resigned = (change: object, by = keys) =>
  altered('checkpoint', (bytes) => {
    const head = parseCheckpoint(parseNote(bytes.toString())!.text)!
    return Buffer.from(signCheckpoint({ ...head, ...change }, by)!)
  })

/** A file that one answer replaces. */
export function answering(path: string, answer: () => Response): typeof fetch {
  const files = serving(filesOf(honest()))
  return async (input, init) => (String(input).endsWith(path) ? answer() : files(input, init))
}

const bomb = gzipSync(Buffer.alloc(50_000_000))
export const unpacked = () =>
  new Response(
    new Blob([new Uint8Array(bomb)]).stream().pipeThrough(new DecompressionStream('gzip')),
  )
