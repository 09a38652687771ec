import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import type { World } from '../../src/testing/index.js'
import type { OperatorView, Recorded } from './answers.js'
import type { Scene } from './fill.js'
import type { WebhookMessage } from './quiet.js'
import type { NodeAnswers } from './recordedNodes.js'
import type { Surface } from './surface.js'

/** A deployment of an earlier build, as test/upgrade/record.ts wrote it. */

export const RECORDED = join(import.meta.dirname, 'recorded')

/** What a build expects of its database, reads from its chains file, and deploys. */
export interface Build {
  commit: string
  /** Its Prisma schema. */
  schema: string
  /** Fields of its chains file: `chains[].label`. */
  fields: string[]
  /** SHA-256 of each contract's code. */
  contracts: Record<string, string>
  surface: Surface
}

export interface Deployment {
  scene: Scene
  /** Complete environment of the daemon. */
  env: Record<string, string>
  world: World<'mainnet' | 'testnet'>
  /** Time at which the clocks of quiet processes stand, Unix ms. */
  nowMs: number
  answers: Recorded[]
  /** What the nodes answered to the quiet processes. */
  nodes: NodeAnswers
  /** Messages to the webhook of the deployment. */
  messages: WebhookMessage[]
  operator: OperatorView
  /** Rows of the SQL views by query. */
  views: Record<string, unknown[]>
}

export const readRecorded = (name: string): Buffer =>
  brotliDecompressSync(readFileSync(join(RECORDED, `${name}.br`)))

export const readJson = <Content>(name: string): Content =>
  JSON.parse(readRecorded(name).toString('utf8')) as Content

/** Writes a file of the recording. */
export function keep(name: string, content: string | Buffer): void {
  mkdirSync(RECORDED, { recursive: true })
  writeFileSync(join(RECORDED, `${name}.br`), brotliCompressSync(content))
}

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

/** Hashes of the code of each contract that contracts/versions.json of a work tree lists. */
export async function hashContracts(tree: string): Promise<Record<string, string>> {
  const contracts = join(tree, 'contracts')
  const versions = JSON.parse(readFileSync(join(contracts, 'versions.json'), 'utf8')) as object
  const hashes: Record<string, string> = {
    registrar: sha256(readFileSync(join(contracts, 'solana/registrar/registrar.so'))),
  }
  for (const name of Object.keys(versions)) {
    if (name in hashes) continue
    const file = pathToFileURL(join(contracts, 'evm/artifacts', `${name}.js`)).href
    const code = Object.entries(await import(file)).find(([key]) => key.endsWith('Bytecode'))
    hashes[name] = sha256(String(code![1]))
  }
  return hashes
}

interface JsonSchema {
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
}

/** Paths of the fields of a JSON schema: `chains[].label`. */
export function fieldsOf({ properties = {}, items }: JsonSchema, path = ''): string[] {
  if (items) return fieldsOf(items, `${path}[]`)
  return Object.entries(properties).flatMap(([name, field]) => {
    const own = path === '' ? name : `${path}.${name}`
    return [own, ...fieldsOf(field, own)]
  })
}
