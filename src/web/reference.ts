import { build, files, html } from './reference/generated/files.js'

/** The reference at `/docs`: Swagger UI over the OpenAPI documents, from this service alone. */

export const referenceHtml: string = html

export interface ReferenceFile {
  type: string
  /** Compressed by gzip. */
  bytes: Buffer
}

const unpacked = new Map<string, Buffer>()

/** A file of the reference; null when this build has none of that name. */
export function referenceFile(ofBuild: string, name: string): ReferenceFile | null {
  const text = ofBuild === build && Object.hasOwn(files, name) ? files[name] : undefined
  if (text === undefined) return null
  const bytes = unpacked.get(name) ?? Buffer.from(text, 'base64')
  unpacked.set(name, bytes)
  return { type: `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`, bytes }
}
