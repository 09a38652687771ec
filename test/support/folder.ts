import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Makes a folder for the tests of a file or of a group, which is removed after them. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clusterd-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
