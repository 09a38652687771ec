/** `fetch` whose responses have no stream, as those of React Native: only their whole text or bytes can be read. */
export const wholeResponses: typeof fetch = async (input, init) =>
  Object.defineProperty(await fetch(input, init), 'body', { value: undefined })
