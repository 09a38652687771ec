import fs from 'node:fs'
import path from 'node:path'

/**
 * Replaces a file atomically: a reader finds the old or the new content, even after a crash. Creates its folder.
 * @param like mode and owner of the file. Without a mode: that of the process's umask
 * @throws Error of the file system. No other file is left then
 */
export function writeAtomically(
  file: string,
  content: string | Uint8Array,
  { mode, uid, gid }: Partial<Pick<fs.Stats, 'mode' | 'uid' | 'gid'>> = {},
): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const temporary = `${file}.${process.pid}.tmp`
  fs.rmSync(temporary, { force: true })
  try {
    // secret until owner and mode are those of the file
    const flags = { flag: 'wx', flush: true, ...(mode !== undefined && { mode: 0o600 }) }
    fs.writeFileSync(temporary, content, flags)
    if (uid !== undefined && gid !== undefined) fs.chownSync(temporary, uid, gid)
    // after the owner, whose change may clear bits; the umask does not cut it
    if (mode !== undefined) fs.chmodSync(temporary, mode)
    fs.renameSync(temporary, file)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
}
