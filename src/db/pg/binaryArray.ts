/**
 * One-dimensional arrays as parameters in PostgreSQL's binary form (`array_recv`): number of dimensions, null flag,
 * element type, then size and lower bound of the dimension and each element with its length. The driver sends a Buffer
 * unchanged; text form would take two to four characters per byte.
 */
export const BYTEA_OID = 17
export const TEXT_OID = 25

const HEADER_BYTES = 20

/** The array of these elements, none of them null. Text elements are in the connection's encoding. */
export function binaryArray(elementOid: number, elements: readonly Uint8Array[]): Buffer {
  const bytes = elements.reduce((sum, element) => sum + 4 + element.length, HEADER_BYTES)
  const array = Buffer.allocUnsafe(bytes)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(0, 4)
  array.writeInt32BE(elementOid, 8)
  array.writeInt32BE(elements.length, 12)
  array.writeInt32BE(1, 16)
  let at = HEADER_BYTES
  for (const element of elements) {
    at = array.writeInt32BE(element.length, at)
    array.set(element, at)
    at += element.length
  }
  return array
}
