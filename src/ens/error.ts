/** A fault in the client's request. The message is one sentence for the caller. */
export class EnsRequestError extends Error {
  override name = 'EnsRequestError'
}

/** Runs `read`. @throws EnsRequestError with `message` where `read` throws */
export function runOrThrowEnsRequestError<T>(message: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new EnsRequestError(message)
  }
}
