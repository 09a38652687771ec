import fs from 'node:fs'
import path from 'node:path'

/**
 * Replaces a file atomically: a reader finds the old or the new content, even after a crash. Creates the file's folder.
 * @param attributes mode and owner of the new file; default: those of a file that this process creates
 * @throws Error of the file system, after the temporary file was removed
 */
export function writeFileAtomically(
  file: string,
  content: string | Uint8Array,
  { mode, uid, gid }: Partial<Pick<fs.Stats, 'mode' | 'uid' | 'gid'>> = {},
): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const temporary = `${file}.${process.pid}.tmp`
  fs.rmSync(temporary, { force: true })
  try {
    // only this user may read the temporary file before its owner and mode are set
    const flags = { flag: 'wx', flush: true, ...(mode !== undefined && { mode: 0o600 }) }
    fs.writeFileSync(temporary, content, flags)
    if (uid !== undefined && gid !== undefined) fs.chownSync(temporary, uid, gid)
    // chmod comes after chown, which may clear bits of the mode
    if (mode !== undefined) fs.chmodSync(temporary, mode)
    fs.renameSync(temporary, file)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
}
