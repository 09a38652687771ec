/** Exchanges the first two entries of a bundle. */
export function swapped(bundle: Buffer): Buffer {
  const first = 2 + bundle.readUInt16BE(0)
  const second = first + 2 + bundle.readUInt16BE(first)
  return Buffer.concat([
    bundle.subarray(first, second),
    bundle.subarray(0, first),
    bundle.subarray(second),
  ])
}
