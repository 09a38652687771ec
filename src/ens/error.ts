/** Fault of what a client asked; its message is one sentence for the caller. */
export class EnsRequestError extends Error {
  override name = 'EnsRequestError'
}

/** @throws EnsRequestError with this message where the reading fails */
export function reading<T>(message: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new EnsRequestError(message)
  }
}
